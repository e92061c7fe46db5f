import { extentOf } from './extent.js';
import parts from '../../parts/parts.module.css';
import styles from './metrics.module.css';

const HEIGHT = 18;

/** Many series as rows of colour on one scale. The columns have the values. */
export function HeatStrip({
  times,
  rows,
  format,
}: {
  readonly times: readonly number[];
  readonly rows: readonly { readonly name: string; readonly values: readonly (number | null)[] }[];
  readonly format: (value: number) => string;
}) {
  const { least, most } = extentOf(rows.flatMap(({ values }) => values));
  const shade = (value: number): number =>
    most === least ? 1 : 0.12 + (0.88 * (value - least)) / (most - least);
  return (
    <div className={parts['tableWrap']} tabIndex={0} role="region" aria-label="All series">
      <table className={parts['table']} aria-label="Series">
        <thead>
          <tr>
            <th scope="col">Series</th>
            <th scope="col">
              Over time, {format(least)} to {format(most)}
            </th>
            <th scope="col" className={parts['number']}>
              Min
            </th>
            <th scope="col" className={parts['number']}>
              Max
            </th>
            <th scope="col" className={parts['number']}>
              Last
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, values }) => {
            const own = extentOf(values);
            const newest = values.findLast((value) => value !== null) ?? 0;
            return (
              <tr key={name}>
                <td className={styles['name']} title={name}>
                  {name}
                </td>
                <td className={styles['strip']}>
                  <svg
                    viewBox={`0 0 ${String(Math.max(1, times.length))} ${String(HEIGHT)}`}
                    preserveAspectRatio="none"
                    aria-hidden="true"
                  >
                    {values.map(
                      (value, at) =>
                        value !== null && (
                          <rect
                            key={at}
                            x={at}
                            y={0}
                            width={1.02}
                            height={HEIGHT}
                            fillOpacity={shade(value)}
                          />
                        ),
                    )}
                  </svg>
                </td>
                <td className={parts['number']}>{format(own.least)}</td>
                <td className={parts['number']}>{format(own.most)}</td>
                <td className={parts['number']}>{format(newest)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
