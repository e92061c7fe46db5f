import type { Convention } from '../conventions/convention.js';

/**
 * Environment and release: OpenTelemetry's conventions for deployments, services and version control, their older names, and the names
 * that platforms and error trackers use.
 */
export const DEPLOYMENT: Convention = {
  fields: {
    environment: {
      'deployment.environment.name': { rank: 1 },
      'deployment.environment': { rank: 2 },
      'sentry.environment': { rank: 4 },
      // The last ones are names used by programs without a convention, as in `trace_batch`.
      environment: { rank: 30 },
    },
    release: {
      'service.version': { rank: 1 },
      'sentry.release': { rank: 4 },
      'vcs.ref.head.revision': { rank: 20 },
      'vcs.repository.ref.revision': { rank: 21 },
      release: { rank: 30 },
    },
    agent_version: { agent_version: { rank: 30 } },
  },
  resource: {
    environment: {
      'deployment.environment.name': 1,
      'deployment.environment': 2,
      'sentry.environment': 4,
      'service.environment': 5,
      // From Vercel, Codex and Datadog's agent.
      env: 20,
      environment: 21,
    },
    release: {
      'service.version': 1,
      'sentry.release': 4,
      'vcs.ref.head.revision': 20,
      'vcs.repository.ref.revision': 21,
      'vercel.sha': 22,
      'git.commit.sha': 23,
    },
    agent_version: { 'gen_ai.agent.version': 1 },
  },
};
