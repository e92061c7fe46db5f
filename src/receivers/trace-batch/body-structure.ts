/** Below this a body cannot hold enough structure to keep the process busy for long. */
const MIN_BYTES = 256 * 1024;
const MAX_DEPTH = 1000;
/** 100 spans with 5000 fields each. */
const MAX_NODES = 500_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Finds bodies whose structure costs far more than their bytes, before they are parsed: 16 MiB of `[` or `{},` would
 * hold up everything else for two to three seconds, although JSON of that size usually takes 50 milliseconds.
 *
 * @param bytes UTF-8; what is no JSON may be given, and is left to the parser.
 * @returns what there is too much of, for the sender, or undefined.
 */
export function findExcess(bytes: Uint8Array): string | undefined {
  if (bytes.length < MIN_BYTES) return undefined;
  let depth = 0;
  let nodes = 0;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE:
        at = endOfString(bytes, at);
        break;
      case 0x5b: // [
      case 0x7b: // {
        nodes++;
        if (++depth > MAX_DEPTH) return `nests deeper than ${MAX_DEPTH} levels`;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
        break;
      case 0x3a: // :
        nodes++;
        break;
      default:
    }
    if (nodes > MAX_NODES) return `holds more than ${MAX_NODES} objects, lists and fields`;
  }
  return undefined;
}

/** @returns the position of the quote that ends the string begun at `start`, or the end of the bytes. */
function endOfString(bytes: Uint8Array, start: number): number {
  let end = start;
  do {
    end = bytes.indexOf(QUOTE, end + 1);
    if (end < 0) return bytes.length;
  } while (isEscaped(bytes, end));
  return end;
}

function isEscaped(bytes: Uint8Array, at: number): boolean {
  let backslashes = 0;
  while (bytes[at - 1 - backslashes] === BACKSLASH) backslashes++;
  return backslashes % 2 === 1;
}
