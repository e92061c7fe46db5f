import { invariant } from './checked.js';

/** Maximum number of characters of names of agents, spans, nodes, models and versions. */
export const MAX_NAME = 1024;
/** The default limit of processor `validation` for an error message or an outcome. */
export const MAX_TEXT = 65_536;

/** A name in stored form: trimmed, cut after 1024 characters; empty if nothing remains. */
export function storableName(text: string): string {
  // Nearly every name remains unchanged.
  const name = text.includes('\0') ? text.replaceAll('\0', '\uFFFD').trim() : text.trim();
  return cutText(name.toWellFormed(), MAX_NAME).trimEnd();
}

/** Cuts a text between characters: those outside the basic plane take two units of a string. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  let end = 0;
  for (let count = 0; count < max && end < text.length; count++)
    end += invariant(text.codePointAt(end), 'character') > 0xffff ? 2 : 1;
  return text.slice(0, end);
}
