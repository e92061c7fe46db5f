import type { Convention, Reader } from '../conventions/convention.js';

/** The path of an event: `backend.openai.chat.error`, `agent.requirement.final_answer`. */
const EVENT = /^(?:agent|backend|tool|workflow)(?:\.[\w-]+){2,}$/;

const event: Reader = (value) => (typeof value === 'string' && EVENT.test(value) ? true : undefined);

/** BeeAI: its events are spans, whose kind is that of their sender. */
export const BEEAI: Convention = {
  fields: { is_step: { 'metadata.path': { rank: 2, read: event } } },
  agentNames: { generic: ['agent.*.*-*'] },
};
