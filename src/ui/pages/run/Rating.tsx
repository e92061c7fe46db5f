import { useMutation, useQueryClient } from '@tanstack/react-query';
import { MessageSquare, ThumbsDown, ThumbsUp } from 'lucide-react';
import { useState, type SyntheticEvent } from 'react';
import { v5 as uuidFrom } from 'uuid';
import { api, bodyOf } from '../../api/client.js';
import { cx } from '../../parts/cx.js';
import { ActionProblem, TextField } from '../../parts/FormField.js';
import parts from '../../parts/parts.module.css';
import { Overlay } from '../../shell/Dialogs.js';
import { useMe } from '../../shell/Session.js';
import { useShortcuts } from '../../state/shortcuts.js';
import type { LoadedRun } from './load-run.js';
import styles from './run.module.css';

type Score = LoadedRun['run']['scores'][number];

/** The namespace of the ids of scores that are given here. */
const SCORES = 'c2f4a3b0-6d5e-4c1a-9a57-2f8f0f6f7d11';

/** The name of the score that the thumbs give: 1 or 0. */
export const RATING = 'rating';
/** Marks scores of these pages with their author, so that each user has one score of a name. */
const AUTHOR = 'rated_by';

interface Judged {
  readonly traceId: string;
  /** Null: the run. */
  readonly spanId: string | null;
  /** At least those of the run or span. */
  readonly scores: readonly Score[];
}

interface Given {
  readonly name: string;
  readonly value: number | null;
  readonly comment: string;
}

/** Thumbs and a comment for a run or a span. @param hasKeys whether `+`, `-` and `c` are for it */
export function Rating({ hasKeys = false, ...judged }: Judged & { readonly hasKeys?: boolean }) {
  const { scopes } = useMe();
  const [isOpen, setOpen] = useState(false);
  const { own, give } = useRating(judged);
  const mayRate = ['write', 'feedback', 'admin'].some((scope) => scopes.some((each) => each === scope));
  const rating = own(RATING);
  const rate = (value: number): void => {
    if (mayRate && !give.isPending) give.mutate({ name: RATING, value, comment: rating?.comment ?? '' });
  };
  const open = (): void => {
    if (mayRate) setOpen(true);
  };
  useShortcuts(
    hasKeys
      ? {
          '+': () => {
            rate(1);
          },
          '-': () => {
            rate(0);
          },
          c: open,
        }
      : {},
  );
  if (!mayRate) return null;
  const what = judged.spanId === null ? 'run' : 'span';
  const thumbs = [
    { value: 1, label: `Rate the ${what} up`, key: '+', Icon: ThumbsUp },
    { value: 0, label: `Rate the ${what} down`, key: '-', Icon: ThumbsDown },
  ] as const;
  return (
    <span className={styles['rating']}>
      {thumbs.map(({ value, label, key, Icon }) => (
        <button
          key={label}
          type="button"
          className={cx(parts['button'], parts['iconButton'])}
          aria-label={label}
          aria-pressed={rating?.value === value}
          title={hasKeys ? `${label} (${key})` : label}
          onClick={() => {
            rate(value);
          }}
        >
          <Icon size={14} aria-hidden="true" />
        </button>
      ))}
      <button
        type="button"
        className={cx(parts['button'], parts['iconButton'])}
        aria-label={`Score the ${what}`}
        title={hasKeys ? 'Score with value and comment (C)' : 'Score with value and comment'}
        onClick={open}
      >
        <MessageSquare size={14} aria-hidden="true" />
      </button>
      <ActionProblem error={give.error} />
      {isOpen && (
        <Overlay
          title={`Score the ${what}`}
          onClose={() => {
            setOpen(false);
          }}
        >
          <ScoreForm
            own={own}
            isBusy={give.isPending}
            onGive={(given) => {
              give.mutate(given, {
                onSuccess: () => {
                  setOpen(false);
                },
              });
            }}
          />
          <ActionProblem error={give.error} />
        </Overlay>
      )}
    </span>
  );
}

function authorOf({ metadata }: Score): unknown {
  return (metadata as Readonly<Record<string, unknown>> | null)?.[AUTHOR];
}

/** The user's own scores, and a mutation that adds or replaces one. */
function useRating({ traceId, spanId, scores }: Judged) {
  const me = useMe();
  const client = useQueryClient();
  const own = (name: string): Score | undefined =>
    scores.findLast(
      (score) => score.name === name && score.span_id === spanId && authorOf(score) === me.user.id,
    );
  const give = useMutation({
    mutationFn: async ({ name, value, comment }: Given) => {
      const identity = [me.user.id, traceId, spanId, name];
      const score = {
        // Derived, so that two tabs give one score.
        id: own(name)?.id ?? uuidFrom(JSON.stringify(identity), SCORES),
        trace_id: traceId,
        ...(spanId !== null && { span_id: spanId }),
        name,
        ...(value !== null && { value }),
        ...(comment.trim() !== '' && { comment: comment.trim() }),
        source: 'user' as const,
        // The generated type has no free keys.
        metadata: { [AUTHOR]: me.user.id } as never,
      };
      const { errors } = await bodyOf(api.POST('/api/v1/scores', { body: { scores: [score] } }));
      const [problem] = errors;
      if (problem !== undefined) throw new Error(problem.error);
    },
    onSuccess: async () => {
      await Promise.all(
        ['run', 'runs', 'review'].map((key) => client.invalidateQueries({ queryKey: [key] })),
      );
    },
  });
  return { own, give };
}

function ScoreForm({
  own,
  isBusy,
  onGive,
}: {
  readonly own: (name: string) => Score | undefined;
  readonly isBusy: boolean;
  readonly onGive: (given: Given) => void;
}) {
  const before = own(RATING);
  const [name, setName] = useState(RATING);
  const [value, setValue] = useState(before?.value?.toString() ?? '');
  const [comment, setComment] = useState(before?.comment ?? '');
  const number = value.trim() === '' ? null : Number(value);
  const isWrong = number !== null && !Number.isFinite(number);
  const isEmpty = name.trim() === '' || (number === null && comment.trim() === '');
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (!isBusy && !isWrong && !isEmpty) onGive({ name: name.trim(), value: number, comment });
  };
  return (
    <form className={styles['stack']} aria-label="Score" noValidate onSubmit={submit}>
      <TextField
        label="Name"
        hint="Your earlier score of this name is replaced"
        value={name}
        onText={setName}
      />
      <TextField
        label="Value"
        hint="A number; empty for a comment only"
        inputMode="decimal"
        value={value}
        problem={isWrong ? 'It must be a number.' : undefined}
        onText={setValue}
      />
      <TextField autoFocus label="Comment" value={comment} onText={setComment} />
      <button
        type="submit"
        className={cx(parts['button'], parts['primary'])}
        disabled={isBusy || isWrong || isEmpty}
      >
        Save score
      </button>
    </form>
  );
}
