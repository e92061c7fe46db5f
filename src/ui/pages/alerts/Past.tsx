import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import { TimeChart } from '../../charts/TimeChart.js';
import { DURATION_STEPS, HOUR_STEPS } from '../../charts/values.js';
import { formatCounted } from '../../format/number.js';
import { formatTime } from '../../format/time.js';
import { formatDuration } from '../../format/duration.js';
import { useSettings } from '../../state/settings.js';
import { useSettled } from '../../state/use-debounced.js';
import { toTried, type NewRule } from './draft.js';
import { formatFound, TYPES, WINDOWED, type RuleType } from './labels.js';

type PastValues = Schemas['AlertPreview'];

export const SPANS = {
  '6': 'Last 6 hours',
  '24': 'Last 24 hours',
  '72': 'Last 3 days',
  '168': 'Last 7 days',
};
const SHOWN_INCIDENTS = 10;
const STEPS: Partial<Record<RuleType, { readonly steps: readonly number[] }>> = {
  latency_threshold: { steps: DURATION_STEPS },
  inactivity: { steps: HOUR_STEPS },
};

/** How a rule would have behaved on past data. @param rule null for an incomplete rule */
export function usePast(rule: NewRule | null, hours: number) {
  const bodyText = useSettled(rule === null ? '' : JSON.stringify({ alert: toTried(rule), hours }));
  return useQuery({
    queryKey: ['alert-past', bodyText],
    queryFn: ({ signal }) =>
      bodyOf(api.POST('/api/v1/alerts/preview', { body: JSON.parse(bodyText) as never, signal })),
    enabled: bodyText !== '',
    placeholderData: keepPreviousData,
  });
}

/** The period that each value covers, for conditions on the runs or scores of a period. */
function windowNote({ now: { window } }: PastValues, type: RuleType): string {
  if (!WINDOWED.has(type) || type === 'composite') return '';
  return `, each over the ${formatDuration(Date.parse(window.to) - Date.parse(window.from))} before`;
}

/** Values against the threshold, with the times at which the rule would have fired. */
export function PastChart({ past, type }: { readonly past: PastValues; readonly type: RuleType }) {
  const drawn = useMemo(() => {
    const points = past.points.map(([ms, value]) => [ms ?? 0, value ?? null] as const);
    const fired = new Map(past.firings.map(({ fired_at, value }) => [Date.parse(fired_at), value]));
    return {
      times: points.map(([ms]) => ms),
      lines: [
        {
          name: type === 'composite' ? 'Conditions met' : TYPES[type],
          values: points.map(([, value]) => value),
        },
        {
          name: 'Would have fired',
          values: points.map(([ms, value]) => (fired.has(ms) ? (fired.get(ms) ?? value) : null)),
          tone: 'fail' as const,
        },
      ],
      threshold:
        type === 'composite'
          ? undefined
          : {
              name: type === 'inactivity' ? 'Fires after' : 'Fires above',
              value: past.now.threshold,
            },
    };
  }, [past, type]);
  return (
    <TimeChart
      title={type === 'composite' ? 'Conditions met' : TYPES[type]}
      note={`sampled every ${formatDuration(past.step_seconds * 1000)}${windowNote(past, type)}`}
      times={drawn.times}
      lines={drawn.lines}
      {...(drawn.threshold && { threshold: drawn.threshold })}
      format={(value) => formatFound(type, value)}
      {...STEPS[type]}
      missing="Not enough data: too few runs ended in the window, or none has this value"
      height={200}
    />
  );
}

/** Firings of one incident end together: the first one, with their number. */
function incidentsOf(firings: PastValues['firings']) {
  const incidents = new Map<string | null, { fired_at: string; resolved_at: string | null; times: number }>();
  for (const { fired_at, resolved_at } of firings) {
    const known = incidents.get(resolved_at);
    if (known === undefined) incidents.set(resolved_at, { fired_at, resolved_at, times: 1 });
    else known.times++;
  }
  return [...incidents.values()];
}

/** The number and times of firings in the preview. */
export function PastFirings({
  past: { firings, now, step_seconds },
  hours,
}: {
  readonly past: PastValues;
  readonly hours: number;
}) {
  const { zone } = useSettings();
  const incidents = incidentsOf(firings);
  const span = SPANS[String(hours) as keyof typeof SPANS].toLowerCase();
  return (
    <>
      <p>
        In the {span} it would have fired{' '}
        <strong>{firings.length === 0 ? 'never' : formatCounted(firings.length, 'time')}</strong>
        {incidents.length < firings.length && `, in ${formatCounted(incidents.length, 'incident')}`}.
        {firings.length > 0 &&
          ` Estimated from stored data, sampled every ${formatDuration(step_seconds * 1000)}.`}
      </p>
      {firings.length > 0 && (
        <ol>
          {incidents
            .slice(-SHOWN_INCIDENTS)
            .reverse()
            .map(({ fired_at, resolved_at, times }) => (
              <li key={fired_at}>
                {formatTime(Date.parse(fired_at), zone)}
                {resolved_at === null
                  ? ', ongoing'
                  : `, lasted ${formatDuration(Date.parse(resolved_at) - Date.parse(fired_at))}`}
                {times > 1 && `, fired ${formatCounted(times, 'time')}`}
              </li>
            ))}
          {incidents.length > SHOWN_INCIDENTS && <li>and {incidents.length - SHOWN_INCIDENTS} earlier</li>}
        </ol>
      )}
      {!now.is_evaluated && (
        <p role="status">
          This daemon does not evaluate alerts: no pipeline has the exporter alerts. Add it to have alerts
          fire.
        </p>
      )}
    </>
  );
}
