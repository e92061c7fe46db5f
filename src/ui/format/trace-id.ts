const UUID = /[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}/i;

/**
 * The id of a trace that somebody typed or pasted: alone, or in a link to it.
 *
 * @returns as the API has it; OpenTelemetry writes it without dashes. undefined where there is none
 */
export function traceIdIn(text: string): string | undefined {
  const trimmed = text.trim();
  const [found] = UUID.exec(/\/traces\/([^/?#]+)/.exec(trimmed)?.[1] ?? trimmed) ?? [];
  // A longer text that has an id somewhere is not one.
  if (found === undefined || (!trimmed.includes('/traces/') && found.length !== trimmed.length))
    return undefined;
  return found
    .replaceAll('-', '')
    .toLowerCase()
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
