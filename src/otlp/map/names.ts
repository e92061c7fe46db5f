import { cutText, MAX_TEXT } from '../../signal/names.js';

export { storableName } from '../../signal/names.js';

/** A text cut to the storable length of an error message or an outcome. */
export function storableText(text: string): string {
  return cutText(text.toWellFormed(), MAX_TEXT);
}
