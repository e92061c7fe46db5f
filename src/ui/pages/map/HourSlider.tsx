import { useId, useMemo } from 'react';
import charts from '../../charts/charts.module.css';
import { TimeChart } from '../../charts/TimeChart.js';
import { formatCount } from '../../format/number.js';
import { formatTime } from '../../format/time.js';
import { HOUR, hoursOf } from '../../graph/hours.js';
import parts from '../../parts/parts.module.css';
import { useSettings } from '../../state/settings.js';
import type { ChangeMap } from './map-state.js';
import styles from './map.module.css';
import { useMapHours } from './use-map.js';
import { rangeBetween } from '../../state/range.js';

const HEIGHT = 96;

/** The hours of a range with span counts, to select one of them. */
export function HourSlider({
  range,
  at,
  now,
  change,
}: {
  readonly range: string;
  readonly at: string;
  readonly now: number;
  readonly change: ChangeMap;
}) {
  const id = useId();
  const { zone } = useSettings();
  const { start, end } = useMemo(() => hoursOf(range, '', now), [range, now]);
  const { data } = useMapHours(start, now);
  const drawn = useMemo(() => {
    if (!data) return undefined;
    const found = new Map(data.map((hour) => [Date.parse(hour.hour), hour]));
    const first = start ?? Math.min(...found.keys());
    const last = end ?? Math.max(...found.keys()) + HOUR;
    if (!(first < last)) return undefined;
    const times = Array.from({ length: Math.round((last - first) / HOUR) }, (_, i) => first + i * HOUR);
    return {
      times,
      ends: [first, last] as [number, number],
      spans: times.map((time) => found.get(time)?.spans ?? 0),
      errors: times.map((time) => {
        const hour = found.get(time);
        return hour === undefined ? 0 : hour.errors;
      }),
    };
  }, [data, start, end]);
  if (!drawn) return <div style={{ height: HEIGHT }} />;
  const { times, ends, spans, errors } = drawn;
  const place = at === '' ? -1 : times.indexOf(Date.parse(at));
  const words = (index: number): string =>
    index < 0 ? 'all hours' : formatTime(times[index] ?? ends[0], zone);
  return (
    <div className={styles['hours']}>
      <div className={charts['charts']}>
        <TimeChart
          title="Spans per hour"
          note={at === '' ? '' : `showing the hour from ${words(place)}`}
          times={times}
          lines={[
            { name: 'spans', values: spans, tone: 'quiet' },
            { name: 'failed', values: errors, tone: 'fail' },
          ]}
          kind="bars"
          height={HEIGHT}
          range={ends}
          format={formatCount}
          missing="Counted by an older version"
          onBrush={(from, to) => {
            const [first, last] = [Math.floor(from / HOUR) * HOUR, Math.ceil(to / HOUR) * HOUR];
            change({ range: rangeBetween(first, last), at: '' });
          }}
          onPick={(first) => {
            change({ at: new Date(first).toISOString() });
          }}
        />
      </div>
      <div className={styles['slider']}>
        <label htmlFor={id}>Hour</label>
        <input
          id={id}
          type="range"
          min={-1}
          max={times.length - 1}
          value={place}
          aria-valuetext={words(place)}
          onChange={(event) => {
            const time = times[event.target.valueAsNumber];
            change({ at: time === undefined ? '' : new Date(time).toISOString() }, 'replace');
          }}
        />
        <output htmlFor={id}>{words(place)}</output>
        <button
          type="button"
          className={parts['button']}
          disabled={at === ''}
          onClick={() => {
            change({ at: '' });
          }}
        >
          All hours
        </button>
      </div>
    </div>
  );
}
