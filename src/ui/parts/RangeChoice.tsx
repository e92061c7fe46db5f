import { RANGES } from '../state/range.js';
import { Choice } from './Choice.js';

/** Selects a period; a custom one from a link or a chart is offered as an option. */
export function RangeChoice({
  label,
  value,
  bounded = false,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  /** Without the option for all time. */
  readonly bounded?: boolean;
  readonly onChange: (value: string) => void;
}) {
  const { all, ...ends } = RANGES;
  const known: Readonly<Record<string, string>> = bounded ? ends : { ...ends, all };
  const options = value in known ? known : { ...known, [value]: value.replace('..', ' to ') };
  return <Choice label={label} value={value} options={options} onChange={onChange} />;
}
