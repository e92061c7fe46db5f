import { useId } from 'react';
import { cx } from '../parts/cx.js';
import styles from './charts.module.css';

interface Bar {
  readonly label: string;
  /** Height of the bar; null draws no bar. */
  readonly value: number | null;
  /** The failed part of `value`. */
  readonly bad?: number;
  /** The value as text, for the tooltip and the table. */
  readonly words: string;
}

interface Props {
  readonly title: string;
  readonly unit: string;
  readonly bars: readonly Bar[];
  /** Distinguishes bars of costs from bars of counts. */
  readonly tone?: 'accent';
  /** The largest value as text. */
  readonly top: string;
}

const HEIGHT = 96;

/** A bar chart over equal time steps, with a table of the same values. */
export function Bars({ title, unit, bars, top, tone }: Props) {
  const id = useId();
  const largest = Math.max(...bars.map(({ value }) => value ?? 0), Number.MIN_VALUE);
  const width = 1000 / Math.max(1, bars.length);
  return (
    <figure className={styles['chart']} aria-labelledby={id}>
      <figcaption id={id}>
        <strong>{title}</strong> <span>{top}</span>
      </figcaption>
      <svg viewBox={`0 0 1000 ${String(HEIGHT)}`} preserveAspectRatio="none" aria-hidden="true">
        {bars.map(({ label, value, bad = 0, words }, at) => {
          const height = ((value ?? 0) / largest) * (HEIGHT - 4);
          const badHeight = (bad / largest) * (HEIGHT - 4);
          return (
            <g key={label}>
              <title>{`${label}: ${words}`}</title>
              <rect className={styles['room']} x={at * width} y={0} width={width} height={HEIGHT} />
              <rect
                className={cx(styles['bar'], tone && styles[tone])}
                x={at * width + width * 0.1}
                y={HEIGHT - height}
                width={width * 0.8}
                height={height}
              />
              <rect
                className={styles['bad']}
                x={at * width + width * 0.1}
                y={HEIGHT - badHeight}
                width={width * 0.8}
                height={badHeight}
              />
            </g>
          );
        })}
      </svg>
      <div className={styles['axis']} aria-hidden="true">
        <span>{bars[0]?.label}</span>
        <span>{bars.at(-1)?.label}</span>
      </div>
      <details>
        <summary>Table</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">{unit}</th>
              <th scope="col">{title}</th>
            </tr>
          </thead>
          <tbody>
            {bars.map(({ label, words }) => (
              <tr key={label}>
                <td>{label}</td>
                <td>{words}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}
