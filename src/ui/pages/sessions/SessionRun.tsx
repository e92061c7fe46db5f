import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { api, bodyOf, readText, type Schemas } from '../../api/client.js';
import { JsonView } from '../../json/JsonView.js';
import { member, parseJson, type Json } from '../../json/parse.js';
import { MessageView } from '../../messages/MessageView.js';
import { Duration, Money, Time } from '../../parts/figures.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Status } from '../../parts/Status.js';
import { conversationSpans, turnOf } from '../../messages/turn.js';
import styles from './Session.module.css';

/** Span limit for finding the conversation. */
const MAX_SPANS = 500;

/** @returns undefined if missing */
function dataOf(detail: Json | undefined, name: string): Json | undefined {
  const value = member(detail, name);
  return value?.kind === 'literal' && value.value === null ? undefined : value;
}

const NAMES = { input: 'Input', output: 'Output' } as const;

/** Runs load shortly before they are scrolled into view. */
const MARGIN = '600px';

/** A run of a conversation: agent, input and output, loaded when it comes into view. */
export function SessionRun({
  run,
  number,
  onShown,
}: {
  readonly run: Schemas['Run'];
  /** Place in the session, from 1. */
  readonly number: number;
  /** If given, the run stays in view until the user does something, and calls it then. */
  readonly onShown: (() => void) | undefined;
}) {
  const { trace_id: id } = run;
  const item = useRef<HTMLLIElement>(null);
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    const watch = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting === true) setNear(true);
      },
      { rootMargin: MARGIN },
    );
    if (item.current) watch.observe(item.current);
    return () => {
      watch.disconnect();
    };
  }, []);
  useEffect(() => {
    const list = item.current?.parentElement;
    if (!onShown || !list) return undefined;
    item.current?.querySelector('a')?.focus({ preventScroll: true });
    // The runs above it grow when they are loaded.
    const watch = new ResizeObserver(() => item.current?.scrollIntoView());
    watch.observe(list);
    const input = new AbortController();
    for (const event of ['wheel', 'pointerdown', 'keydown'])
      addEventListener(event, onShown, { signal: input.signal });
    return () => {
      watch.disconnect();
      input.abort();
    };
  }, [onShown]);
  const turn = useQuery({
    queryKey: ['turn', id, run.status],
    enabled: isNear,
    queryFn: async ({ signal }) => {
      const path = { trace_id: id };
      const { spans } = await bodyOf(
        api.GET('/api/v1/dashboard/traces/{trace_id}/spans', { params: { path }, signal }),
      );
      const { asked, answered } = conversationSpans(spans.slice(0, MAX_SPANS));
      const read = async (span: string | undefined) =>
        span === undefined
          ? undefined
          : parseJson(await readText(`dashboard/traces/${id}/spans/${span}`, signal));
      const question = await read(asked);
      const answer = answered === asked ? question : await read(answered);
      return {
        conversation: turnOf(question, answer),
        input: dataOf(question, 'input_data'),
        output: dataOf(answer, 'output_data'),
      };
    },
  });
  return (
    <li ref={item} className={styles['turn']}>
      <div className={styles['turnHead']}>
        <span className={parts['faint']}>{number}</span>
        <Link href={`/traces/${id}`}>{run.agent_name === '' ? '(no name)' : run.agent_name}</Link>
        <Status status={run.status} />
        <Duration value={run.duration_ms} missing="Still running" />
        <Money value={run.total_cost_usd} missing="No span has a cost" />
        <Time at={run.started_at} />
      </div>
      {turn.data?.conversation ? (
        <MessageView messages={turn.data.conversation.messages} />
      ) : turn.isPending ? (
        <TableSkeleton rows={2} />
      ) : turn.data && (turn.data.input ?? turn.data.output) ? (
        <div className={styles['data']}>
          {(['input', 'output'] as const).map((side) => {
            const value = turn.data[side];
            return (
              value && (
                <section key={side}>
                  <h3>{NAMES[side]}</h3>
                  <JsonView value={value} label={NAMES[side]} />
                </section>
              )
            );
          })}
        </div>
      ) : (
        <p className={parts['faint']}>
          {turn.error ? 'Could not load the messages.' : 'No input or output.'}{' '}
          <Link href={`/traces/${id}`}>Open the run</Link>
        </p>
      )}
      {run.error_message !== null && <p className={parts['bad']}>{run.error_message}</p>}
    </li>
  );
}
