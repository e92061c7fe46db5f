import { copyFile, mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Argument, Command } from 'commander';
import { resolveTarget, resolveUrl, withApiOptions, type ApiOptions } from './api-client.js';
import type { CliIo } from './io.js';
import { UsageError } from './usage-error.js';

const SERVER = 'jackdaw';
const KEY_VARIABLE = 'JACKDAW_KEY';
/** Keys in files are readable by their owner only. */
const PRIVATE_FILE = 0o600;

interface Client {
  readonly title: string;
  /** The file of a project, relative to its folder. */
  readonly projectFile: string;
  /** The file of the user, relative to the home directory. */
  readonly userFile: string;
  readonly format: 'json' | 'toml';
  /** What the user must also do. */
  readonly note?: string;
  /** The server in the file. @param key null: the client reads it from {@link KEY_VARIABLE} */
  entry(url: string, key: string | null): object;
}

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });

const CLIENTS: Readonly<Record<'claude' | 'codex' | 'cursor' | 'gemini', Client>> = {
  claude: {
    title: 'Claude Code',
    projectFile: '.mcp.json',
    userFile: '.claude.json',
    format: 'json',
    entry: (url, key) => ({ type: 'http', url, headers: bearer(key ?? `\${${KEY_VARIABLE}}`) }),
  },
  codex: {
    title: 'Codex',
    note: 'Codex reads the file of a project only if the project is trusted: start codex there once, or use --user.',
    projectFile: '.codex/config.toml',
    userFile: '.codex/config.toml',
    format: 'toml',
    entry: (url, key) =>
      key === null ? { url, bearer_token_env_var: KEY_VARIABLE } : { url, http_headers: bearer(key) },
  },
  cursor: {
    title: 'Cursor',
    projectFile: '.cursor/mcp.json',
    userFile: '.cursor/mcp.json',
    format: 'json',
    entry: (url, key) => ({ url, headers: bearer(key ?? `\${env:${KEY_VARIABLE}}`) }),
  },
  gemini: {
    title: 'Gemini CLI',
    note: 'Gemini CLI connects only in trusted folders: start gemini there once.',
    projectFile: '.gemini/settings.json',
    userFile: '.gemini/settings.json',
    format: 'json',
    entry: (url, key) => ({ httpUrl: url, headers: bearer(key ?? `$${KEY_VARIABLE}`) }),
  },
};
type ClientName = keyof typeof CLIENTS;

interface SetupOptions extends ApiOptions {
  readonly write?: boolean;
  readonly user?: boolean;
  readonly file?: string;
  readonly includeKey?: boolean;
}

/** `jackdaw mcp setup`: configures coding agents for the extension `mcp`. */
export function mcpCommand(io: CliIo): Command {
  const command = new Command('mcp').description('Let coding agents read telemetry (extension mcp).');
  withApiOptions(
    command
      .command('setup')
      .description(`Print, or write, a coding agent's configuration. It reads the key from ${KEY_VARIABLE}.`)
      .addArgument(new Argument('<client>', 'the coding agent').choices(Object.keys(CLIENTS)))
      .option(
        '--write',
        'write the file: other servers in it are kept, and the old file is copied to FILE.bak',
      )
      .option('--user', 'the file of the user instead of that of the project in the current directory')
      .option('--file <path>', 'another file')
      .option('--include-key', `with --write: write the key itself, for programs without ${KEY_VARIABLE}`),
  ).action(async (name: ClientName, options: SetupOptions) => {
    const client = CLIENTS[name];
    const file = fileOf(client, options, io);
    const isKeyIncluded = options.includeKey === true;
    if (isKeyIncluded && options.write !== true)
      throw new UsageError('--include-key needs --write: a key is not printed');
    const target = isKeyIncluded
      ? await resolveTarget(options, io)
      : { url: resolveUrl(options, io), key: null };
    const entry = client.entry(`${target.url}/mcp`, target.key);
    if (options.write !== true) {
      io.err(`For ${client.title}, in ${file}:`);
      io.out(merged(client, '', { entry, file }).trimEnd());
    } else {
      const result = await write(client, file, { entry, isPrivate: isKeyIncluded });
      io.err(result);
    }
    if (client.note !== undefined) io.err(client.note);
    if (!isKeyIncluded)
      io.err(
        `Set ${KEY_VARIABLE} for ${client.title}, preferably to a read-only key: jackdaw keys create --name ${name} --scopes read`,
      );
  });
  return command;
}

function fileOf({ projectFile, userFile }: Client, { file, user }: SetupOptions, { env }: CliIo): string {
  if (file !== undefined) return resolve(file);
  return user === true ? join(env['HOME'] ?? homedir(), userFile) : resolve(projectFile);
}

/** @returns what was done */
async function write(
  client: Client,
  named: string,
  { entry, isPrivate }: { readonly entry: object; readonly isPrivate: boolean },
): Promise<string> {
  // A link stays a link.
  const file = await realpath(named).catch(() => named);
  const old = await readFile(file, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  const text = merged(client, old ?? '', { entry, file });
  if (text === old) return `${file} is up to date.`;
  await mkdir(dirname(file), { recursive: true });
  if (old !== undefined) await copyFile(file, `${file}.bak`);
  const mode = isPrivate ? PRIVATE_FILE : old === undefined ? undefined : (await stat(file)).mode & 0o777;
  const fresh = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(fresh, text, { flag: 'wx', ...(mode !== undefined && { mode }) });
    await rename(fresh, file);
  } finally {
    await rm(fresh, { force: true });
  }
  return `Wrote ${file}${old === undefined ? '' : `; the old file is ${file}.bak`}.`;
}

/** The text of a file with the server added or replaced. @throws Error if the file cannot be merged */
function merged(
  { format }: Client,
  old: string,
  { entry, file }: { readonly entry: object; readonly file: string },
): string {
  return format === 'json' ? mergedJson(old, entry, file) : mergedToml(old, entry, file);
}

function mergedJson(old: string, entry: object, file: string): string {
  const refuse = (reason: string): never => {
    throw new Error(
      `${file} ${reason}: add the server by hand, as "jackdaw mcp setup" without --write prints it`,
    );
  };
  let parsed: unknown;
  try {
    parsed = old.trim() === '' ? {} : JSON.parse(old);
  } catch {
    refuse('is not plain JSON');
  }
  if (!isRecord(parsed)) return refuse('is not a JSON object');
  const servers = parsed['mcpServers'] ?? {};
  if (!isRecord(servers)) return refuse('has a key mcpServers that is not an object');
  const indent = /^[\t ]+(?=")/m.exec(old)?.[0] ?? '  ';
  const text = JSON.stringify({ ...parsed, mcpServers: { ...servers, [SERVER]: entry } }, null, indent);
  return `${text}\n`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Replaces or appends the table of the server, and keeps everything else. */
function mergedToml(old: string, entry: object, file: string): string {
  if (/^\s*mcp_servers(\s*=|\s*\.)/m.test(old))
    throw new Error(
      `${file} has mcp_servers in a form that cannot be merged: add the server by hand, as "jackdaw mcp setup" without --write prints it`,
    );
  const header = `[mcp_servers.${SERVER}]`;
  const table = [header, ...Object.entries(entry).map(([key, value]) => `${key} = ${tomlValue(value)}`)].join(
    '\n',
  );
  const lines = old.split('\n');
  const start = lines.findIndex((line) => line.trim() === header);
  if (start < 0) return `${old.trimEnd()}${old.trim() === '' ? '' : '\n\n'}${table}\n`;
  const next = lines.findIndex((line, index) => index > start && line.trimStart().startsWith('['));
  const rest = next < 0 ? [''] : ['', ...lines.slice(next)];
  return [...lines.slice(0, start), table, ...rest].join('\n');
}

function tomlValue(value: unknown): string {
  if (!isRecord(value)) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, inner]) => `${key} = ${tomlValue(inner)}`)
    .join(', ')} }`;
}
