import { useEffect, useId, useRef, useState, type ReactNode, useSyncExternalStore } from 'react';
import type uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatTime, zoneLabel } from '../format/time.js';
import { cx } from '../parts/cx.js';
import { useSettings } from '../state/settings.js';
import { plot, toneOf, type Line, type Threshold } from './plot.js';
import styles from './TimeChart.module.css';

const DARK = '(prefers-color-scheme: dark)';

function subscribe(listener: () => void): () => void {
  const query = matchMedia(DARK);
  query.addEventListener('change', listener);
  return () => {
    query.removeEventListener('change', listener);
  };
}

/** @returns the theme in effect, including changes of the system theme */
function useEffectiveTheme(): 'light' | 'dark' {
  const { theme } = useSettings();
  const isDark = useSyncExternalStore(subscribe, () => matchMedia(DARK).matches);
  if (theme !== 'system') return theme;
  return isDark ? 'dark' : 'light';
}

/** The ends of the axis. Bars are drawn whole, although a period may begin or end inside of one. */
function rangeOf(
  kind: Props['kind'],
  times: readonly number[],
  from: number,
  to: number,
): readonly [number, number] {
  const [first = from, second = first] = times;
  if (kind !== 'bars' || first === second) return [from, to];
  return [Math.min(from, first), Math.max(to, (times.at(-1) ?? first) + second - first)];
}

interface Props {
  readonly title: string;
  /** Shown next to the title, such as a unit or a sum. */
  readonly note?: ReactNode;
  /** Milliseconds since the epoch, ascending. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  /** Bars overlap: each series is a part of the previous one. */
  readonly kind?: 'lines' | 'bars';
  readonly threshold?: Threshold;
  /** Both ends of the axis in milliseconds; by default those of `times`. */
  readonly range?: readonly [number, number];
  readonly format: (value: number) => string;
  /** Reason shown for a time without a value. */
  readonly missing: string;
  /** Called with the range selected by dragging, in milliseconds. */
  readonly onBrush?: (start: number, end: number) => void;
  /** Called with both ends of a clicked bar, in milliseconds. */
  readonly onPick?: (start: number, end: number) => void;
  /**
   * Distances between grid lines, ascending; by default round numbers. Must be a constant, because a new
   * array redraws.
   */
  readonly steps?: readonly number[];
  /** Height of the plot in pixels. */
  readonly height?: number;
}

const HEIGHT = 168;
const MAX_ROWS = 200;

/**
 * A chart over time with a legend for the pointer and a table. Memoize `times`, `lines` and `threshold`: new
 * objects redraw the chart.
 */
export function TimeChart(props: Props) {
  const { title, note, times, lines, kind = 'lines', threshold, range, format, missing, onBrush } = props;
  const { height = HEIGHT, steps, onPick } = props;
  const [from, to] = range ?? [];
  const id = useId();
  const { zone } = useSettings();
  const look = useEffectiveTheme();
  const host = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<number | null>(null);
  const latest = useRef({ format, onBrush, onPick });
  useEffect(() => {
    latest.current = { format, onBrush, onPick };
  });
  const canBrush = onBrush !== undefined;
  const canPick = onPick !== undefined;
  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const drawn: uPlot = plot(element, {
      times,
      lines,
      kind,
      threshold,
      range: from === undefined || to === undefined ? undefined : rangeOf(kind, times, from, to),
      zone,
      height,
      steps,
      format: (value) => latest.current.format(value),
      onPoint: setPointed,
      onBrush: canBrush ? (start, end) => latest.current.onBrush?.(start, end) : undefined,
      onPick: canPick
        ? (at) => {
            const start = times[at];
            const end = times[at + 1] ?? to;
            if (start !== undefined && end !== undefined) latest.current.onPick?.(start, end);
          }
        : undefined,
    });
    const watch = new ResizeObserver(() => {
      if (element.clientWidth !== drawn.width && element.clientWidth > 0)
        drawn.setSize({ width: element.clientWidth, height });
    });
    watch.observe(element);
    return () => {
      watch.disconnect();
      drawn.destroy();
      setPointed(null);
    };
    // `look` is what colours come from.
  }, [times, lines, kind, threshold, from, to, zone, height, steps, canBrush, canPick, look]);
  const words = (value: number | null | undefined) =>
    value === null || value === undefined ? '–' : format(value);
  const time = (at: number) => `${formatTime(times[at] ?? 0, zone)} ${zoneLabel(times[at] ?? 0, zone)}`;
  const first = Math.max(0, times.length - MAX_ROWS);
  return (
    <figure className={styles['chart']} aria-labelledby={id}>
      <figcaption id={id}>
        <strong>{title}</strong> <span>{pointed === null ? note : time(pointed)}</span>
      </figcaption>
      {(lines.length > 1 || threshold) && (
        <ul className={styles['legend']}>
          {lines.map((line, at) => (
            <li key={line.name} className={styles[toneOf(line, at)]}>
              {line.name}
              {pointed !== null && <b> {words(line.values[pointed])}</b>}
            </li>
          ))}
          {threshold && (
            <li className={cx(styles['fail'], styles['threshold'])}>
              {threshold.name} <b>{format(threshold.value)}</b>
            </li>
          )}
        </ul>
      )}
      <div className={styles['canvas']} ref={host} style={{ height }} aria-hidden="true">
        {lines.length === 1 && pointed !== null && (
          <output className={styles['value']}>{words(lines[0]?.values[pointed])}</output>
        )}
      </div>
      <details>
        <summary>Table</summary>
        <div className={styles['scroll']} tabIndex={0} role="region" aria-label={`${title}, as a table`}>
          {first > 0 && (
            <p>
              Latest {MAX_ROWS} of {times.length} rows
            </p>
          )}
          {lines.some(({ values }) => values.slice(first).some((value) => typeof value !== 'number')) && (
            <p>–: {missing}</p>
          )}
          <table>
            <thead>
              <tr>
                <th scope="col">Time</th>
                {lines.map(({ name }) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times.slice(first).map((ms, row) => (
                <tr key={ms}>
                  <td>{time(first + row)}</td>
                  {lines.map(({ name, values }) => (
                    <td key={name}>{words(values[first + row])}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}
