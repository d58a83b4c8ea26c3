// hiprtc declares all of it before every source.
#pragma once
