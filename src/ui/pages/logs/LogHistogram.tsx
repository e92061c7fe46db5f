import { useMemo } from 'react';
import type { Schemas } from '../../api/client.js';
import { bucketTimes, valuesAt } from '../../charts/buckets.js';
import charts from '../../charts/charts.module.css';
import { TimeChart } from '../../charts/TimeChart.js';
import { formatCount, formatCounted } from '../../format/number.js';
import { onDrawn } from '../../state/range.js';

/** Drawing over less than that chooses nothing. */
const LEAST_MS = 100;
const HEIGHT = 112;

/** When records came, and of them those that are errors; drawing over it chooses a time. */
export function LogHistogram({
  facets,
  onBrush,
}: {
  readonly facets: Schemas['LogFacets'];
  readonly onBrush: (range: string) => void;
}) {
  const drawn = useMemo(() => {
    const times = bucketTimes(facets);
    return {
      times,
      lines: [
        {
          name: 'records',
          values: valuesAt(times, facets.buckets, ({ count }) => count, 0),
          tone: 'quiet' as const,
        },
        {
          name: 'errors',
          values: valuesAt(times, facets.buckets, ({ errors }) => errors, 0),
          tone: 'fail' as const,
        },
      ],
    };
  }, [facets]);
  return (
    <div className={charts['charts']}>
      <TimeChart
        title="Records"
        note={formatCounted(facets.count, 'record')}
        {...drawn}
        kind="bars"
        height={HEIGHT}
        range={[Date.parse(facets.start_time), Date.parse(facets.end_time)]}
        format={formatCount}
        missing="No record came here"
        onBrush={onDrawn(LEAST_MS, onBrush)}
      />
    </div>
  );
}
