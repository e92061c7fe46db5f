import type { Convention } from '../conventions/convention.js';
import { AG2 } from './ag2.js';
import { AGENT_FRAMEWORK } from './agent-framework.js';
import { AGNO } from './agno.js';
import { AUTOGEN } from './autogen.js';
import { BEEAI } from './beeai.js';
import { BRAINTRUST } from './braintrust.js';
import { CLAUDE_CODE } from './claude-code.js';
import { CODEX } from './codex.js';
import { CREWAI } from './crewai.js';
import { DATABASE } from './database.js';
import { DEPLOYMENT } from './deployment.js';
import { DSPY } from './dspy.js';
import { GEN_AI } from './gen-ai.js';
import { GEMINI_CLI } from './gemini-cli.js';
import { GENKIT } from './genkit.js';
import { GOOGLE_ADK } from './google-adk.js';
import { HAYSTACK } from './haystack.js';
import { HTTP } from './http.js';
import { INSTRUCTOR } from './instructor.js';
import { LAMINAR } from './laminar.js';
import { LANGCHAIN } from './langchain.js';
import { LANGFUSE } from './langfuse.js';
import { LITELLM } from './litellm.js';
import { LIVEKIT } from './livekit.js';
import { LLAMA_INDEX } from './llama-index.js';
import { MASTRA } from './mastra.js';
import { MESSAGING } from './messaging.js';
import { MLFLOW } from './mlflow.js';
import { OPENAI_AGENTS } from './openai-agents.js';
import { OPENINFERENCE } from './openinference.js';
import { OPENLIT } from './openlit.js';
import { OPENLLMETRY } from './openllmetry.js';
import { PIPECAT } from './pipecat.js';
import { PYDANTIC_AI } from './pydantic-ai.js';
import { SEMANTIC_KERNEL } from './semantic-kernel.js';
import { SMOLAGENTS } from './smolagents.js';
import { SPRING_AI } from './spring-ai.js';
import { STRANDS } from './strands.js';
import { VCS } from './vcs.js';
import { VERCEL_AI } from './vercel-ai.js';
import { VOLTAGENT } from './voltagent.js';

/**
 * The attribute conventions of all clients and specifications, one per row. Their order does not matter: sources of a field are
 * ordered by rank alone.
 */
export const CONVENTIONS: readonly Convention[] = [
  GEN_AI,
  HTTP,
  DATABASE,
  MESSAGING,
  DEPLOYMENT,
  VCS,
  OPENINFERENCE,
  OPENLLMETRY,
  LANGFUSE,
  MLFLOW,
  VERCEL_AI,
  PYDANTIC_AI,
  GOOGLE_ADK,
  LANGCHAIN,
  LITELLM,
  OPENLIT,
  OPENAI_AGENTS,
  STRANDS,
  SMOLAGENTS,
  CREWAI,
  LLAMA_INDEX,
  AUTOGEN,
  SEMANTIC_KERNEL,
  AGNO,
  BEEAI,
  AG2,
  DSPY,
  HAYSTACK,
  AGENT_FRAMEWORK,
  INSTRUCTOR,
  BRAINTRUST,
  GENKIT,
  LAMINAR,
  LIVEKIT,
  MASTRA,
  PIPECAT,
  SPRING_AI,
  VOLTAGENT,
  CLAUDE_CODE,
  CODEX,
  GEMINI_CLI,
];
