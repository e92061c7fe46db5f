/** Base URL of the pages from `<base>`, ending in a slash. */
export const BASE = new URL('./', document.baseURI);
/** Endpoint for OTLP/HTTP exporters at the origin of the pages: the receiver's `api_endpoint`. */
export const OTLP_ENDPOINT = new URL('api/v1/otlp', BASE).href;
