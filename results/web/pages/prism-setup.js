// Loaded before Prism: we only use its tokenizer; it must not change the page itself.
"use strict";
window.Prism = {
  manual: true
};
