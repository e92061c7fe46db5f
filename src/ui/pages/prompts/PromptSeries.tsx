import { useMemo } from 'react';
import { bucketTimes, valuesAt } from '../../charts/buckets.js';
import charts from '../../charts/charts.module.css';
import { TimeChart } from '../../charts/TimeChart.js';
import { formatCount, formatCounted } from '../../format/number.js';
import { cx } from '../../parts/cx.js';
import { useSeries } from '../../state/use-series.js';
import styles from './Prompt.module.css';

const RANGE = '30d';
/** More lines than that nobody can tell apart. */
const MOST_LINES = 6;

/** When which version of a prompt was used. Nothing where none was. */
export function PromptSeries({ name }: { readonly name: string }) {
  const { data } = useSeries(RANGE, { group_by: 'prompt_version', prompt_name: name, interval: '1d' });
  const drawn = useMemo(() => {
    if (!data) return undefined;
    const times = bucketTimes(data);
    const versions = data.groups
      .filter(({ key }) => key !== null)
      .sort((a, b) => Number(b.key) - Number(a.key))
      .slice(0, MOST_LINES);
    return {
      times,
      lines: versions.map(({ key, buckets }) => ({
        name: `v${key ?? ''}`,
        values: valuesAt(times, buckets, ({ runs }) => runs, 0),
      })),
    };
  }, [data]);
  if (!data || !drawn || drawn.lines.length === 0) return null;
  return (
    <div className={cx(charts['charts'], styles['series'])}>
      <TimeChart
        title="Runs of agents by version and UTC day"
        note={`${formatCounted(data.total.runs, 'run')} in 30 days`}
        {...drawn}
        range={[Date.parse(data.start_time), Date.parse(data.end_time)]}
        format={formatCount}
        missing="No run used it here"
      />
    </div>
  );
}
