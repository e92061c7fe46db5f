import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  ResourceTemplate,
  type McpServer,
} from '@modelcontextprotocol/server';
import { listPromptVersions, promptNames } from '../../api/resources/prompts.js';
import { listTraces } from '../../api/resources/run-list.js';
import { notFound } from '../../api/support/not-found.js';
import { HttpProblem } from '../../component/http.js';
import { Answer, oneLine } from './answer.js';
import type { ApiCalls } from './api-calls.js';
import { countLine, readTree, runLines, spanLine } from './span-tree.js';

/** Entries of a list: clients show them to people, who search for others by tools. */
const LISTED = 20;
const TEXT = 'text/plain';

/** Words for an error, and the log of a fault. @param place of the error; `ids` says where ids come from */
export type ErrorText = (error: unknown, place: Place) => string;
interface Place {
  readonly name: string;
  readonly ids?: string | undefined;
}

const RUN = { name: 'run', ids: 'the tool search_runs lists runs with their ids' };
const PROMPT = { name: 'prompt', ids: 'resources/list lists prompts' };

/** Runs and prompts as resources, for clients whose users attach them to a conversation. */
export function addResources(
  server: McpServer,
  {
    api,
    maxTokens,
    errorText,
  }: { readonly api: ApiCalls; readonly maxTokens: number; readonly errorText: ErrorText },
): void {
  const list = async (place: Place, read: () => Promise<readonly { uri: string; name: string }[]>) => {
    try {
      const resources = (await read()).map((resource) => ({ ...resource, mimeType: TEXT }));
      return { resources };
    } catch (error) {
      throw new ProtocolError(ProtocolErrorCode.InternalError, errorText(error, place));
    }
  };
  const read = async ({ href: uri }: URL, place: Place, fill: (answer: Answer) => Promise<void>) => {
    const answer = new Answer(maxTokens);
    try {
      await fill(answer);
    } catch (error) {
      const text = errorText(error, place);
      // An id that cannot exist is as unknown as any other.
      if (error instanceof HttpProblem && [404, 422].includes(error.status))
        throw new ResourceNotFoundError(uri, text);
      throw new ProtocolError(ProtocolErrorCode.InternalError, text);
    }
    return { contents: [{ uri, mimeType: TEXT, text: answer.toString() }] };
  };

  const runs = new ResourceTemplate('jackdaw://runs/{trace_id}', {
    list: () =>
      list(RUN, async () => {
        const { items } = await api.call(listTraces, { query: { page_size: LISTED, count: 'none' } });
        return items.map(({ trace_id, agent_name, status, started_at }) => ({
          uri: `jackdaw://runs/${trace_id}`,
          name: `${oneLine(agent_name, 80)}, ${started_at}, ${status}`,
        }));
      }),
  });
  const ofRun = { title: 'Run', description: 'Outline of a run.', mimeType: TEXT };
  server.registerResource('run', runs, ofRun, (uri, { trace_id }) =>
    read(uri, RUN, async (answer) => {
      const tree = await readTree(api, String(trace_id));
      for (const line of [...runLines(tree.run), countLine(tree)]) answer.line(line);
      const shown = answer.list(tree.spans, ({ span, depth }) => spanLine(span, depth));
      if (shown < tree.spans.length)
        answer.next('get_run', { trace_id: tree.run.trace_id, offset: shown }, 'shows the following spans.');
    }),
  );

  const prompts = new ResourceTemplate('jackdaw://prompts/{name}', {
    list: () =>
      list(PROMPT, async () => {
        const { items } = await api.call(promptNames, { query: { page_size: LISTED } });
        return items.map((name) => ({
          uri: `jackdaw://prompts/${encodeURIComponent(name)}`,
          name: oneLine(name, 100),
        }));
      }),
  });
  const ofPrompt = {
    title: 'Prompt',
    description: 'Text of the newest version of a prompt.',
    mimeType: TEXT,
  };
  server.registerResource('prompt', prompts, ofPrompt, (uri, { name }) =>
    read(uri, PROMPT, async (answer) => {
      const [newest] = await api.call(listPromptVersions, { params: { name: decoded(String(name)) } });
      if (newest === undefined) throw notFound('prompt');
      answer.block(`version ${newest.version}`, newest.template_text);
    }),
  );
}

/** @throws HttpProblem 404 for a text that is not percent-encoded UTF-8 */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    throw notFound('prompt');
  }
}
