// Before Prism: it is asked for tokens and shall not touch the page by itself.
"use strict";
window.Prism = {
  manual: true
};
