import type { Fields } from '../../src/expressions/scope/field.js';
import { RECORD_TYPES } from '../../src/expressions/scope/record-types.js';

/** Reader-friendly names of the CEL types. */
const TYPES: Readonly<Record<string, string>> = {
  'google.protobuf.Timestamp': 'timestamp',
  'map<string, dyn>': 'map',
  'list<string>': 'list of texts',
  'list<Span>': 'list of spans',
  dyn: 'anything',
};

/** A Markdown table for each record type, as on the fields page. */
export function fieldTables(): string {
  return Object.entries(RECORD_TYPES)
    .map(([variable, { fields }]) => {
      const rows = Object.entries(fields as Fields<never>).map(([name, field]) => {
        const { type, description, isOptional } = field;
        const words = (field.words ?? []).map((word) => `\`${word}\``).join(', ');
        return [
          `\`${name}\``,
          TYPES[type] ?? type,
          isOptional ? 'yes' : '',
          [description, words].filter((part) => part !== '').join(': '),
        ];
      });
      return [`### \`${variable}\``, '', ...table(['Field', 'Type', 'May be missing', ''], rows)].join('\n');
    })
    .join('\n\n');
}

/** Columns are as wide as their widest cell, as the formatter leaves them. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((title, column) =>
    Math.max(3, title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)];
}
