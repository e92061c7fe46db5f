import { cutText } from '../../signal/names.js';

export { storableName } from '../../signal/names.js';

/** What processor `validation` takes of an error message or an outcome unless it is told otherwise. */
const MAX_TEXT = 65_536;

/** A text cut to what may be stored of an error message or an outcome. */
export function storableText(text: string): string {
  return cutText(text.toWellFormed(), MAX_TEXT);
}
