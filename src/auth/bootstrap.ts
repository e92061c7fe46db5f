import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SCOPES } from '../component/identity.js';
import type { Clock, Logger } from '../component/telemetry.js';
import type { AuthConfig } from '../config/file-schema.js';
import { uuidV7 } from '../signal/ids.js';
import type { ControlStore } from '../storage/contracts/control-store.js';
import { describeKey, generateKey, isKey } from './keys.js';
import { writePrivateFile } from './private-file.js';

/** The file in the control store's directory that holds a generated first key. */
export const INITIAL_KEY_FILE = 'initial-api-key';

/**
 * Creates the first user, organization and key with all scopes in a store without users; otherwise does nothing. Call it after
 * everything else has started, so that a failed start leaves neither a user nor a key file.
 *
 * @returns the path of the file with the generated key, or null if none was written.
 * @throws Error if `bootstrap_key` is not a key, or is missing although the store has no directory, or the file cannot be written;
 * nothing is stored then.
 */
export async function bootstrap(options: {
  readonly control: Pick<ControlStore, 'accounts' | 'directory'>;
  readonly config: AuthConfig;
  readonly clock: Clock;
  readonly logger: Logger;
}): Promise<string | null> {
  const { control, config, clock, logger } = options;
  if (config.bootstrap_key !== undefined && !isKey(config.bootstrap_key))
    throw new Error('auth.bootstrap_key is not an API key: it must be jd_ and 43 characters of base64url');
  if ((await control.accounts.listUsers()).length > 0) {
    await warnOfUnusedKey(control, config, logger);
    return null;
  }

  const file = config.bootstrap_key === undefined ? keyFileIn(control.directory) : null;
  // An existing file is used and never overwritten: an earlier start may have ended before it stored the key, or the file may
  // belong to a control store that was moved away temporarily.
  const kept = file === null ? null : await readKeyFile(file);
  const key = config.bootstrap_key ?? kept ?? generateKey();
  // The file is written first: otherwise a kill between the two steps would lose the only key.
  if (file !== null && kept === null) await writePrivateFile(file, key, 'The first API key');
  const at = clock.now();
  const nowMs = Math.floor(at / 1000);
  const userId = uuidV7(nowMs);
  const isFirst = await control.accounts.bootstrap({
    user: {
      id: userId,
      email: config.bootstrap_email,
      name: 'admin',
      monthly_event_limit: null,
      stored_bytes_limit: null,
      disabled: false,
      created_at: at,
    },
    organization: { id: uuidV7(nowMs), slug: 'default', name: 'default', created_at: at },
    key: {
      id: uuidV7(nowMs),
      user_id: userId,
      name: 'bootstrap',
      ...describeKey(key),
      scopes: SCOPES,
      created_at: at,
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
      parent_id: null,
    },
  });
  if (!isFirst) {
    if (file !== null && kept === null) await rm(file, { force: true });
    return null;
  }
  logger.info(
    { user: 'admin', organization: 'default', ...(file === null ? {} : { key_file: file }) },
    file === null
      ? 'First start: created the first user with the configured key'
      : `First start: created the first user; its API key is in the file${kept === null ? '' : ', which existed and was not changed'}`,
  );
  return file;
}

/** The configured key applies only to the first start; a later change is logged as without effect. */
async function warnOfUnusedKey(
  { accounts }: Pick<ControlStore, 'accounts'>,
  { bootstrap_key: key }: AuthConfig,
  logger: Logger,
): Promise<void> {
  if (key === undefined || (await accounts.findKey(describeKey(key).digest)) !== null) return;
  logger.warn(
    { setting: 'auth.bootstrap_key' },
    'The configured bootstrap key is ignored because the store has users; create keys with "jackdaw keys create"',
  );
}

/** @returns null if there is no file @throws Error if it holds no key or cannot be read */
async function readKeyFile(file: string): Promise<string | null> {
  let text: string;
  try {
    text = (await readFile(file, 'utf8')).trim();
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null;
    throw new Error(`${file} cannot be read: give this user permission, or move the file away`, { cause });
  }
  if (isKey(text)) return text;
  throw new Error(`${file} holds no API key and is not overwritten: move the file away`);
}

/** @throws Error if the store has no directory */
function keyFileIn(directory: string | null): string {
  if (directory !== null) return join(directory, INITIAL_KEY_FILE);
  throw new Error(
    'auth.bootstrap_key is missing: the store has no users yet, and the first API key must be configured, as the store has no directory to write one to',
  );
}
