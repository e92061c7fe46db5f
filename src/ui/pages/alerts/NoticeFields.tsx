import { SelectField, TextField } from '../../parts/FormField.js';
import type { Draft } from './draft.js';
import { CHANNELS } from './words.js';

/** How often a rule may fire, and whom it then tells. */
export function NoticeFields({
  draft: { cooldown, channel, url },
  problems,
  onChange,
}: {
  readonly draft: Pick<Draft, 'cooldown' | 'channel' | 'url'>;
  /** By the names of fields. */
  readonly problems: Readonly<Record<string, string | undefined>>;
  readonly onChange: (some: Partial<Pick<Draft, 'cooldown' | 'channel' | 'url'>>) => void;
}) {
  return (
    <>
      <TextField
        label="Cooldown, in minutes"
        hint="The shortest time between two notices"
        inputMode="decimal"
        value={cooldown}
        problem={problems['cooldown_minutes']}
        onText={(text) => {
          onChange({ cooldown: text });
        }}
      />
      <SelectField
        label="Notify by"
        value={channel}
        options={CHANNELS}
        problem={problems['channel']}
        onText={(text) => {
          onChange({ channel: text as Draft['channel'] });
        }}
      />
      {channel !== 'email' && (
        <TextField
          label="Webhook URL"
          hint="Gets a POST for each firing"
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
