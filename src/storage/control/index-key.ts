import { createHash } from 'node:crypto';

/** PostgreSQL indexes no text of more than about 2700 bytes. */
const LONGEST = 200;
const MARK = 'sha256:';

/** What stands for a text of any length in an index: a short text stands for itself. */
export function indexKey(text: string): string {
  if (text.length <= LONGEST && !text.startsWith(MARK)) return text;
  return MARK + createHash('sha256').update(text.toWellFormed()).digest('hex');
}
