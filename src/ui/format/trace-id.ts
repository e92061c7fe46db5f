const UUID = /[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}/i;

/**
 * The trace id in typed or pasted text: an id, or a link that contains one.
 *
 * @returns the id in the API's form with dashes, or undefined
 */
export function traceIdIn(text: string): string | undefined {
  const trimmed = text.trim();
  const [found] = UUID.exec(/\/traces\/([^/?#]+)/.exec(trimmed)?.[1] ?? trimmed) ?? [];
  // An id inside other text does not count.
  if (found === undefined || (!trimmed.includes('/traces/') && found.length !== trimmed.length))
    return undefined;
  return found
    .replaceAll('-', '')
    .toLowerCase()
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
