import { formatTime, formatTimeExactly } from '../format/time.js';
import { RANGES, stretchOf } from '../state/range.js';
import { useSettings } from '../state/settings.js';
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
  const { zone } = useSettings();
  const { start, end } = stretchOf(value, 0) ?? {};
  const between = (format: typeof formatTime): string =>
    start === undefined || end === undefined ? value : `${format(start, zone)} to ${format(end, zone)}`;
  const isCustom = !(value in known);
  return (
    <Choice
      label={label}
      title={isCustom ? between(formatTimeExactly) : undefined}
      value={value}
      options={isCustom ? { ...known, [value]: between(formatTime) } : known}
      onChange={onChange}
    />
  );
}
