import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { api, ApiError, bodyOf } from '../../api/client.js';
import { cx } from '../../parts/cx.js';
import { ActionProblem, TextField } from '../../parts/FormField.js';
import parts from '../../parts/parts.module.css';
import { LIMITS, limitOf, limitText, problemsOf, toWindow } from './draft.js';
import { NoticeFields } from './NoticeFields.js';
import type { Rule } from './labels.js';
import { NameField, WindowFields } from './RuleFields.js';
import styles from './alerts.module.css';

/** Edits the changeable fields of a rule; its target is fixed. */
export function EditAlert({
  rule,
  canMail,
  onDone,
}: {
  readonly rule: Rule;
  /** Whether the daemon has a mail server; undefined while unknown. */
  readonly canMail: boolean | undefined;
  readonly onDone: () => void;
}) {
  const client = useQueryClient();
  const { type } = rule;
  const [limit, setLimit] = useState(limitText(type, rule.threshold));
  const [name, setName] = useState(rule.name ?? '');
  const [span, setSpan] = useState({
    window: String(rule.window_minutes ?? ''),
    minimum: String(rule.min_samples ?? ''),
  });
  const [notice, setNotice] = useState({
    cooldown: String(rule.cooldown_minutes),
    channel: rule.channel,
    url: rule.webhook_url ?? '',
  });
  const save = useMutation({
    mutationFn: () => {
      const threshold = limitOf(type, limit);
      const minutes = limitOf('', notice.cooldown);
      const body = {
        ...(name === (rule.name ?? '') ? {} : { name: name.trim() }),
        // In a change, 0 restores the default.
        ...Object.fromEntries(
          Object.entries(toWindow(type, span)).map(([name, value]) => [name, value ?? 0]),
        ),
        ...(type === 'composite' || threshold === undefined ? {} : { threshold }),
        ...(minutes === undefined ? {} : { cooldown_minutes: minutes }),
        channel: notice.channel,
        ...(notice.url.trim() === '' ? {} : { webhook_url: notice.url.trim() }),
      };
      return bodyOf(
        api.PATCH('/api/v1/alerts/{alert_id}', { params: { path: { alert_id: rule.id } }, body }),
      );
    },
    onSuccess: (changed) => {
      client.setQueryData(['alert', rule.id], changed);
      void client.invalidateQueries({ queryKey: ['alerts'] });
      onDone();
    },
  });
  const problems = problemsOf(save.error instanceof ApiError ? save.error.fields : []);
  const isNumber = (text: string): boolean => limitOf('', text) !== undefined;
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (!save.isPending && (type === 'composite' || isNumber(limit)) && isNumber(notice.cooldown))
      save.mutate();
  };
  const wrong = (text: string): string | undefined => (isNumber(text) ? undefined : 'Must be a number.');
  return (
    <form className={cx(styles['form'], styles['edit'])} aria-label="Edit alert" onSubmit={submit}>
      <NameField name={name} problem={problems['name']} onName={setName} />
      {type !== 'composite' && (
        <TextField
          {...LIMITS[type]}
          label={LIMITS[type]?.label ?? ''}
          inputMode="decimal"
          value={limit}
          problem={wrong(limit) ?? problems['threshold']}
          onText={setLimit}
        />
      )}
      <WindowFields
        type={type}
        draft={span}
        problems={problems}
        onChange={(some) => {
          setSpan({ ...span, ...some });
        }}
      />
      <NoticeFields
        draft={notice}
        problems={{ ...problems, cooldown_minutes: wrong(notice.cooldown) ?? problems['cooldown_minutes'] }}
        canMail={canMail}
        onChange={(some) => {
          setNotice({ ...notice, ...some });
        }}
      />
      <div className={styles['actions']}>
        <button type="submit" className={cx(parts['button'], parts['primary'])} disabled={save.isPending}>
          Save
        </button>
        <button type="button" className={parts['button']} onClick={onDone}>
          Cancel
        </button>
      </div>
      {Object.keys(problems).length === 0 && <ActionProblem error={save.error} />}
    </form>
  );
}
