import { write, writeSeveral, type Grammar } from '../grammar.js';
import { MODELS } from '../models.js';
import { drawVerdict, type AgentProfile } from '../profile.js';
import type { Recorder } from '../recorder.js';
import { VOCABULARY } from '../vocabulary.js';

const GRAMMAR = {
  ...VOCABULARY,
  sentence: [
    'Just got my {product} and it is {opinion}.',
    'Does anybody know whether {company} ships to {country}?',
    'Selling two tickets for {city}, {weekday} night, below price, write to me.',
    'I was in {city} last week and the food alone is worth it.',
    'Honestly, whoever designed the {product} should be {opinion}.',
    'Click the link in my profile and earn {100-900} a day from home!!!',
    'My neighbour {first_name} says the opposite, but what does {first_name} know.',
    'Photos follow as soon as the weather is better.',
  ],
  opinion: ['great', 'a joke', 'better than I expected', 'ashamed of it', 'fine for the price'],
  reason: [
    'An opinion about a product; harsh, but not aimed at a person.',
    'Promises income and pushes an outside link: rule 4, spam.',
    'A private sale of tickets, allowed in this section.',
    'Names a private person in a mocking way; borderline, rule 2.',
  ],
} satisfies Grammar;

const SYSTEM =
  'Judge the post by the community rules: 1 hate, 2 harassment, 3 violence, 4 spam and fraud, 5 sexual content, 6 private data. Answer with JSON: {"verdict": "allow" | "remove" | "review", "rule": 1..6 or null, "confidence": 0..1, "reason": one sentence}. Opinions about products are allowed, however harsh.';

function run(recorder: Recorder) {
  const { random } = recorder;
  const post = writeSeveral(random, GRAMMAR, 'sentence', random.integer(1, 5));
  return recorder.agent(
    'content-moderator',
    { post_id: `p_${random.uint32().toString(36)}`, surface: random.pick(['comment', 'listing', 'profile']) },
    (root) => {
      recorder.custom('language and hash check', undefined, (span) => {
        recorder.pass(3);
        span.output = { language: 'en', known_hash: false };
      });
      const verdict = random.pick(['allow', 'allow', 'allow', 'allow', 'remove', 'review']);
      const confidence = random.integer(55, 99) / 100;
      const completion = JSON.stringify({
        verdict,
        rule: verdict === 'allow' ? null : random.integer(1, 6),
        confidence,
        reason: write(random, GRAMMAR, '{reason}'),
      });
      recorder.model({
        model: MODELS.ownModeration,
        fallback: MODELS.haiku,
        name: 'judge',
        system: SYSTEM,
        prompt: post,
        completion,
        contextTokens: 420,
      });
      if (confidence < 0.7) {
        recorder.model({
          model: MODELS.gpt41,
          name: 'second opinion',
          system: SYSTEM,
          prompt: post,
          completion,
          contextTokens: 420,
        });
      }
      recorder.http({
        method: 'PATCH',
        url: `https://community.internal.example.com/posts/${random.integer(1, 9_000_000)}`,
        ms: 35,
        request: { visibility: verdict },
      });
      root.output = { verdict, confidence };
      return drawVerdict(recorder, [
        { outcome: verdict, success: true, weight: 40 },
        { outcome: 'appeal_upheld', success: false, weight: 2 },
        { outcome: verdict, weight: 58 },
      ]);
    },
  );
}

/** Judges posts of a community: many short runs. */
export const contentModerator: AgentProfile = {
  name: 'content-moderator',
  weight: 11,
  rhythm: 'evening',
  sdkVersion: '0.4.1',
  metadata: { environment: 'production', team: 'trust-and-safety', region: 'us-east-1' },
  run,
};
