import { createHash } from 'node:crypto';

/** PostgreSQL cannot index texts longer than about 2700 bytes. */
const LONGEST = 200;
const MARK = 'sha256:';

/** The index key of a text of any length: a short text is its own key. */
export function indexKey(text: string): string {
  if (text.length <= LONGEST && !text.startsWith(MARK)) return text;
  return MARK + createHash('sha256').update(text.toWellFormed()).digest('hex');
}
