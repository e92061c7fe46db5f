import { Plus, X } from 'lucide-react';
import { useState, type SyntheticEvent } from 'react';
import type { Schemas } from '../../api/client.js';
import { formatMoney } from '../../format/number.js';
import { Choice } from '../../parts/Choice.js';
import { cx } from '../../parts/cx.js';
import parts from '../../parts/parts.module.css';
import { modelName } from './model-figures.js';
import type { Estimate } from './use-what-if.js';
import {
  candidates,
  formatDifference,
  missingReason,
  MAX_SWAPS,
  processorsOf,
  remarks,
  together,
  withSwap,
  type Swap,
} from './what-if.js';
import styles from './WhatIf.module.css';

interface Props {
  /** Called models. */
  readonly models: readonly string[];
  readonly prices: readonly Schemas['ModelPrice'][];
  readonly swaps: readonly Swap[];
  readonly estimates: readonly Estimate[];
  /** Name of the price processor; empty for the first. */
  readonly processor: string;
  readonly onSwaps: (swaps: readonly Swap[]) => void;
  readonly onProcessor: (processor: string) => void;
}

/** Estimates the cost of a period with other models. */
export function WhatIf({ models, prices, swaps, estimates, processor, onSwaps, onProcessor }: Props) {
  const processors = processorsOf(prices);
  const selected = processor === '' ? (Object.keys(processors)[0] ?? '') : processor;
  return (
    <section className={styles['whatIf']} aria-labelledby="what-if">
      <h2 id="what-if">What if you used another model?</h2>
      {prices.length === 0 ? (
        <p className={parts['faint']}>
          No prices: no pipeline has the processor <code>cost</code>.
        </p>
      ) : (
        <div className={parts['filters']}>
          <AddSwap
            models={models}
            names={candidates(prices, selected)}
            isFull={swaps.length >= MAX_SWAPS}
            onAdd={(swap) => {
              onSwaps(withSwap(swaps, swap));
            }}
          />
          {Object.keys(processors).length > 1 && (
            <Choice label="Price list" value={selected} options={processors} onChange={onProcessor} />
          )}
        </div>
      )}
      {swaps.length > 0 && (
        <>
          <ul className={styles['swaps']} aria-label="Estimates">
            {estimates.map(({ swap, answer, error, retry }) => (
              <li key={swap.model}>
                <span>
                  <b>{modelName(swap.model)}</b> as <b>{swap.as}</b>
                  {answer && <Figures answer={answer} />}{' '}
                </span>
                <button
                  type="button"
                  className={cx(parts['button'], parts['iconButton'])}
                  aria-label={`Remove ${modelName(swap.model)} as ${swap.as}`}
                  onClick={() => {
                    onSwaps(swaps.filter((each) => each !== swap));
                  }}
                >
                  <X size={14} aria-hidden="true" />
                </button>
                {error && !answer && (
                  <span role="alert" className={parts['bad']}>
                    {error.message}{' '}
                    <button type="button" className={parts['button']} onClick={retry}>
                      Try again
                    </button>
                  </span>
                )}
                {answer && <Remarks answer={answer} />}
              </li>
            ))}
          </ul>
          <Together estimates={estimates} />
          <p className={styles['assumed']}>
            Estimate: uses the original token counts. Another model may count tokens, answer and cache
            differently.
          </p>
        </>
      )}
    </section>
  );
}

/** Actual cost and estimate of comparable calls. */
function Figures({ answer: { repriced } }: { readonly answer: NonNullable<Estimate['answer']> }) {
  const { both_cost: now = null, both_repriced_cost: then = null } = repriced ?? {};
  if (now === null || then === null) return null;
  return (
    <>
      : {formatMoney(now)} → ~{formatMoney(then)} ({formatDifference(now, then)})
    </>
  );
}

function Remarks({ answer }: { readonly answer: NonNullable<Estimate['answer']> }) {
  const missing = missingReason(answer);
  const text = [...(missing === undefined ? [] : [`${missing}.`]), ...remarks(answer)].join(' ');
  return (
    <small className={parts['faint']}>
      {answer.rule !== null && `Price rule: ${answer.rule}. `}
      {text}
    </small>
  );
}

/** The total over all estimates. */
function Together({ estimates }: { readonly estimates: readonly Estimate[] }) {
  const answers = estimates.flatMap(({ answer }) => answer ?? []);
  const { now, then } = together(answers);
  if (answers.length < estimates.length || now === null || then === null) return null;
  return (
    <p role="status">
      Total: <b>{formatMoney(now)}</b> actual, about <b>{formatMoney(then)}</b> estimated; difference:{' '}
      {formatDifference(now, then)}.
    </p>
  );
}

function AddSwap({
  models,
  names,
  isFull,
  onAdd,
}: {
  readonly models: readonly string[];
  readonly names: readonly string[];
  readonly isFull: boolean;
  readonly onAdd: (swap: Swap) => void;
}) {
  const [model, setModel] = useState<string>();
  const [as, setAs] = useState('');
  // The selected model may have no calls in another period.
  const from = model !== undefined && models.includes(model) ? model : models[0];
  const add = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (from === undefined || as.trim() === '' || isFull) return;
    onAdd({ model: from, as: as.trim() });
    setAs('');
  };
  return (
    <form className={styles['add']} aria-label="Another model" onSubmit={add}>
      <Choice
        label="Replace"
        value={from ?? ''}
        options={Object.fromEntries(models.map((name) => [name, modelName(name)]))}
        onChange={setModel}
      />
      <label className={parts['label']}>
        with
        <input
          className={parts['field']}
          list="priced-models"
          autoComplete="off"
          spellCheck={false}
          maxLength={512}
          placeholder="Another model…"
          value={as}
          onChange={(event) => {
            setAs(event.target.value);
          }}
        />
      </label>
      <datalist id="priced-models">
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <button
        type="submit"
        className={parts['button']}
        disabled={from === undefined || as.trim() === '' || isFull}
        title={isFull ? `At most ${String(MAX_SWAPS)} at once` : undefined}
      >
        <Plus size={14} aria-hidden="true" /> Estimate
      </button>
    </form>
  );
}
