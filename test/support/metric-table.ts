/** A Markdown table of all metrics of a `/metrics` page, by name, as in `src/telemetry/metrics.md`. */
export function metricTable(page: string): string {
  const types = new Map(
    [...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  );
  const rows = [...page.matchAll(/^# HELP (\S+) (.*)$/gm)]
    .map(([, name = '', help = '']) => [`\`${name}\``, types.get(name) ?? '', help])
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
  const all = [['Metric', 'Type', 'Meaning'], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = all;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n');
}
