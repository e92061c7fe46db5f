import { ResourceTemplate, type McpServer } from '@modelcontextprotocol/server';
import { listPromptVersions, promptNames } from '../../api/resources/prompts.js';
import { listTraces } from '../../api/resources/run-list.js';
import { notFound } from '../../api/support/not-found.js';
import { Answer, oneLine } from './answer.js';
import type { ApiCalls } from './api-calls.js';
import { countLine, readTree, runLines, spanLine } from './span-tree.js';

/** Entries of a list: clients show them to people, who search for others by tools. */
const LISTED = 20;
const TEXT = 'text/plain';

/** Runs and prompts as resources, for clients whose users attach them to a conversation. */
export function addResources(
  server: McpServer,
  { api, maxTokens }: { readonly api: ApiCalls; readonly maxTokens: number },
): void {
  const runs = new ResourceTemplate('jackdaw://runs/{trace_id}', {
    list: async () => {
      const { items } = await api.call(listTraces, { query: { page_size: LISTED, count: 'none' } });
      const resources = items.map(({ trace_id, agent_name, status, started_at }) => ({
        uri: `jackdaw://runs/${trace_id}`,
        name: `${oneLine(agent_name, 80)}, ${started_at}, ${status}`,
        mimeType: TEXT,
      }));
      return { resources };
    },
  });
  server.registerResource(
    'run',
    runs,
    { title: 'Run', description: 'Outline of a run.', mimeType: TEXT },
    async (uri, { trace_id }) => {
      const answer = new Answer(maxTokens);
      const tree = await readTree(api, String(trace_id));
      for (const line of [...runLines(tree.run), countLine(tree)]) answer.line(line);
      const shown = answer.list(tree.spans, ({ span, depth }) => spanLine(span, depth));
      if (shown < tree.spans.length)
        answer.next('get_run', { trace_id: tree.run.trace_id, offset: shown }, 'shows the following spans.');
      return { contents: [{ uri: uri.href, mimeType: TEXT, text: answer.toString() }] };
    },
  );

  const prompts = new ResourceTemplate('jackdaw://prompts/{name}', {
    list: async () => {
      const { items } = await api.call(promptNames, { query: { page_size: LISTED } });
      const resources = items.map((name) => ({
        uri: `jackdaw://prompts/${encodeURIComponent(name)}`,
        name: oneLine(name, 100),
        mimeType: TEXT,
      }));
      return { resources };
    },
  });
  server.registerResource(
    'prompt',
    prompts,
    { title: 'Prompt', description: 'Text of the newest version of a prompt.', mimeType: TEXT },
    async (uri, { name }) => {
      const params = { name: decodeURIComponent(String(name)) };
      const [newest] = await api.call(listPromptVersions, { params });
      if (newest === undefined) throw notFound('prompt');
      const answer = new Answer(maxTokens);
      answer.block(`version ${newest.version}`, newest.template_text);
      return { contents: [{ uri: uri.href, mimeType: TEXT, text: answer.toString() }] };
    },
  );
}
