// Declared before every source.
#pragma once
