/** Base URL of the pages from `<base>`, ending in a slash. */
export const BASE = new URL('./', document.baseURI);
