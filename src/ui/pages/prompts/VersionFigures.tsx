import { formatCounted } from '../../format/number.js';
import { Change } from '../../parts/Change.js';
import { Duration, Money, Percentage } from '../../parts/figures.js';
import parts from '../../parts/parts.module.css';
import type { PromptVersion } from './load.js';
import styles from './Prompt.module.css';

/** With fewer runs, a difference may be due to chance. */
const FEW_RUNS = 30;

/** The names with the most scores. */
const MOST_SCORES = 4;
const shortened = (value: number | null): string =>
  value === null ? '' : String(Number(value.toPrecision(4)));

/** Run statistics of one prompt version against another, with the number of runs. */
export function VersionFigures({
  before: { version, figures: earlier },
  after: { version: later, figures },
}: {
  readonly before: PromptVersion;
  readonly after: PromptVersion;
}) {
  const of = `v${String(version)}`;
  const share = (rate: number | null) => (rate === null ? null : 100 * rate);
  return (
    <>
      <dl className={parts['figures']}>
        <div>
          <dt>Success of v{later}</dt>
          <dd>
            <Percentage value={share(figures.success_rate)} missing="No run reports success or failure" />
            <small>
              <Percentage value={share(earlier.success_rate)} missing="No run reports success or failure" />{' '}
              with {of}
            </small>
          </dd>
        </div>
        <div>
          <dt>Cost per run</dt>
          <dd>
            <Money value={figures.avg_cost_usd} missing="No run has a cost" />
            <Change now={figures.avg_cost_usd} before={earlier.avg_cost_usd} of={of} isBad />
          </dd>
        </div>
        <div>
          <dt>Mean duration</dt>
          <dd>
            <Duration value={figures.avg_latency_ms} missing="No run has ended" />
            <Change now={figures.avg_latency_ms} before={earlier.avg_latency_ms} of={of} isBad />
          </dd>
        </div>
        <div>
          <dt>p95 duration</dt>
          <dd>
            <Duration value={figures.p95_latency_ms} missing="No run has ended" />
            <Change now={figures.p95_latency_ms} before={earlier.p95_latency_ms} of={of} isBad />
          </dd>
        </div>
        {figures.scores
          .filter(({ mean }) => mean !== null)
          .slice(0, MOST_SCORES)
          .map(({ name, mean, values }) => {
            const old = earlier.scores.find((score) => score.name === name);
            return (
              <div key={name}>
                <dt>Mean {name}</dt>
                <dd>
                  {shortened(mean)}
                  <small>
                    {formatCounted(values, 'score')};{' '}
                    {old === undefined || old.mean === null
                      ? `none with ${of}`
                      : `${shortened(old.mean)} of ${formatCounted(old.values, 'score')} with ${of}`}
                  </small>
                </dd>
              </div>
            );
          })}
      </dl>
      <p className={styles['few']}>
        {`Of ${formatCounted(figures.total_traces, 'run')} with v${String(later)} and ${formatCounted(earlier.total_traces, 'run')} with ${of}.`}
        {Math.min(figures.total_traces, earlier.total_traces) < FEW_RUNS &&
          ` With fewer than ${String(FEW_RUNS)} runs, a difference may be due to chance.`}
      </p>
    </>
  );
}
