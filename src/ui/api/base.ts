/** Where the pages lie: what `<base>` says, with a slash at its end. */
export const BASE = new URL('./', document.baseURI);
