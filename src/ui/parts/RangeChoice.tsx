import { Undo2 } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { formatTime, formatTimeExactly, parseLocalTime, type Zone } from '../format/time.js';
import { isFixed, RANGES, rangeBetween, recordZoom, stretchOf, zoomedFrom } from '../state/range.js';
import { useSettings } from '../state/settings.js';
import { Choice } from './Choice.js';
import parts from './parts.module.css';

const CUSTOM = 'custom';
const DAY = 86_400_000;

/** Selects a period, also a custom one; a button returns to the one before a custom period. */
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
  const [isOpen, setOpen] = useState(false);
  const last = useRef(value);
  useEffect(() => {
    recordZoom(last.current, value);
    last.current = value;
  }, [value]);
  const { start, end } = stretchOf(value, 0) ?? {};
  const between = (format: typeof formatTime): string =>
    start === undefined || end === undefined ? value : `${format(start, zone)} to ${format(end, zone)}`;
  const isCustom = !(value in known);
  const options = { ...known, ...(isCustom ? { [value]: between(formatTime) } : {}), [CUSTOM]: 'Custom…' };
  return (
    <>
      <Choice
        label={label}
        title={isCustom ? between(formatTimeExactly) : undefined}
        value={isOpen ? CUSTOM : value}
        options={options}
        onChange={(selected) => {
          setOpen(selected === CUSTOM);
          if (selected !== CUSTOM) onChange(selected);
        }}
      />
      {isOpen ? (
        <CustomRange
          value={value}
          zone={zone}
          onApply={(range) => {
            setOpen(false);
            onChange(range);
          }}
          onCancel={() => {
            setOpen(false);
          }}
        />
      ) : (
        isFixed(value) && (
          <button
            type="button"
            className={parts['button']}
            onClick={() => {
              onChange(zoomedFrom(value) ?? (bounded ? '24h' : 'all'));
            }}
          >
            <Undo2 size={14} aria-hidden="true" /> Zoom out
          </button>
        )
      )}
    </>
  );
}

function CustomRange({
  value,
  zone,
  onApply,
  onCancel,
}: {
  readonly value: string;
  readonly zone: Zone;
  readonly onApply: (range: string) => void;
  readonly onCancel: () => void;
}) {
  const [[from, to], setTimes] = useState(() => {
    const now = Date.now();
    const { start = now - DAY, end = now } = stretchOf(value, now) ?? {};
    return [start, end].map((ms) => formatTime(ms, zone).replace(' ', 'T').slice(0, 16)) as [string, string];
  });
  const [start, end] = [parseLocalTime(from, zone), parseLocalTime(to, zone)];
  const isValid = start !== undefined && end !== undefined && start < end;
  return (
    <form
      className={parts['ends']}
      aria-label="Custom period"
      onSubmit={(event) => {
        event.preventDefault();
        if (isValid) onApply(rangeBetween(start, end));
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onCancel();
      }}
    >
      <input
        autoFocus
        type="datetime-local"
        className={parts['field']}
        aria-label="From"
        value={from}
        onChange={(event) => {
          setTimes([event.target.value, to]);
        }}
      />
      <input
        type="datetime-local"
        className={parts['field']}
        aria-label="To"
        aria-invalid={!isValid}
        title={isValid ? undefined : 'Must be after the start'}
        value={to}
        onChange={(event) => {
          setTimes([from, event.target.value]);
        }}
      />
      <button type="submit" className={parts['button']} disabled={!isValid}>
        Apply
      </button>
      <button type="button" className={parts['button']} onClick={onCancel}>
        Cancel
      </button>
    </form>
  );
}
