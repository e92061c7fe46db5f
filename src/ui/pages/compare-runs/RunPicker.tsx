import { useState } from 'react';
import { Link } from 'wouter';
import { traceIdIn } from '../../format/trace-id.js';
import { Duration, Money, Time } from '../../parts/figures.js';
import { DashesInside } from '../../parts/Missing.js';
import parts from '../../parts/parts.module.css';
import { Status } from '../../parts/Status.js';
import { useRunsOfAgent, type RunSummary } from './load.js';
import styles from './compare-runs.module.css';

/** Number of earlier runs offered. */
const OFFERED = 10;

/** Selects a run by id, by link, or from earlier runs of the agent. */
export function RunPicker({
  side,
  run,
  other,
  onSelect,
}: {
  readonly side: 'A' | 'B';
  readonly run: RunSummary | undefined;
  readonly other: RunSummary | undefined;
  readonly onSelect: (id: string) => void;
}) {
  const [typed, setTyped] = useState('');
  const [isRefused, setRefused] = useState(false);
  const { data } = useRunsOfAgent(other, OFFERED);
  return (
    <section className={styles['picker']} aria-label={`Run ${side}`}>
      <h2>
        Run {side}
        {run && `: ${run.agent_name}`}
      </h2>
      <form
        className={styles['pickerForm']}
        onSubmit={(event) => {
          event.preventDefault();
          const id = traceIdIn(typed);
          setRefused(id === undefined);
          if (id !== undefined) onSelect(id);
        }}
      >
        <input
          className={parts['field']}
          aria-label={`Run ${side}: id or link`}
          aria-invalid={isRefused}
          placeholder="Run id or link"
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
          }}
        />
        <button type="submit" className={parts['button']}>
          Compare
        </button>
      </form>
      {isRefused && (
        <p role="alert" className={parts['bad']}>
          Not a run id. Enter 32 hexadecimal digits, with or without dashes.
        </p>
      )}
      {data && data.length > 0 && (
        <>
          <p className={parts['faint']}>Earlier runs of {other?.agent_name}:</p>
          <ul className={styles['offered']}>
            {data.map((each) => (
              <li key={each.trace_id}>
                <DashesInside value>
                  <button
                    type="button"
                    className={styles['offer']}
                    onClick={() => {
                      onSelect(each.trace_id);
                    }}
                  >
                    <Time at={each.started_at} />
                    <Status status={each.status} />
                    <Duration value={each.duration_ms} missing="Still running" />
                    <Money value={each.total_cost_usd} missing="No span has a cost" />
                  </button>
                </DashesInside>
              </li>
            ))}
          </ul>
        </>
      )}
      {!other && (
        <p className={parts['faint']}>
          Or open a run from <Link href="/runs">the list</Link> and compare it with the previous run.
        </p>
      )}
    </section>
  );
}
