import { envelope } from '../../signal/event.js';
import { uuidV7 } from '../../signal/ids.js';
import { cutText } from '../../signal/names.js';
import { MICROS_PER_MS } from '../../signal/time-units.js';
import { formatTime } from '../../signal/time.js';
import type { Fact } from '../event-log.js';
import type { PromptVersion } from '../prompts.js';

/** How many characters of a description its event tells: what receivers get stays small. */
const TOLD_DESCRIPTION = 1000;

/** The fact that a version of a prompt was made. */
export function promptCreated(userId: string, prompt: PromptVersion): Fact {
  const { id, name, version, description, is_active, created_at } = prompt;
  const head = {
    id: uuidV7(created_at / MICROS_PER_MS),
    type: 'prompt.created',
    timestamp: created_at,
  } as const;
  const body = envelope(head, {
    id,
    name,
    version,
    description: description === null ? null : cutText(description, TOLD_DESCRIPTION),
    is_active,
    created_at: formatTime(created_at),
  });
  return {
    fact: `prompt.created:${id}`,
    tenant: userId,
    event: { ...head, organization_id: null, endpoint_id: null, body },
  };
}
