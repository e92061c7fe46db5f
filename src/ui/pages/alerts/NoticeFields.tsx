import { SelectField, TextField } from '../../parts/FormField.js';
import parts from '../../parts/parts.module.css';
import type { Draft } from './draft.js';
import { CHANNELS } from './labels.js';

/** Cooldown and notification channel of a rule. */
export function NoticeFields({
  draft: { cooldown, channel, url },
  problems,
  canMail,
  onChange,
}: {
  readonly draft: Pick<Draft, 'cooldown' | 'channel' | 'url'>;
  /** By field name. */
  readonly problems: Readonly<Record<string, string | undefined>>;
  /** Whether the daemon has a mail server; undefined while unknown. */
  readonly canMail: boolean | undefined;
  readonly onChange: (some: Partial<Pick<Draft, 'cooldown' | 'channel' | 'url'>>) => void;
}) {
  return (
    <>
      <TextField
        label="Cooldown (minutes)"
        hint="Minimum time between two firings"
        inputMode="decimal"
        value={cooldown}
        problem={problems['cooldown_minutes']}
        onText={(text) => {
          onChange({ cooldown: text });
        }}
      />
      <SelectField
        label="Notification channel"
        value={channel}
        options={CHANNELS}
        problem={problems['channel']}
        onText={(text) => {
          onChange({ channel: text as Draft['channel'] });
        }}
      />
      {channel !== 'webhook' && canMail === false && (
        <p role="alert" className={parts['bad']}>
          This daemon has no mail server, so e-mails are not sent
          {channel === 'email' ? ' and this alert reaches nobody' : ''}. Use a webhook, or set smtp.host in
          the configuration.
        </p>
      )}
      {channel !== 'email' && (
        <TextField
          label="Webhook URL"
          hint="Receives a POST for each firing"
          type="url"
          value={url}
          problem={problems['webhook_url']}
          onText={(text) => {
            onChange({ url: text });
          }}
        />
      )}
    </>
  );
}
