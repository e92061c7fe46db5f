/** A key format that identifies the issuer. */
export interface KnownKey {
  /** A literal contained in every key of this format. */
  readonly sign: string;
  /** Matches the key; or, with a group, a text that ends with the key. Sticky if it begins with the sign. */
  readonly pattern: RegExp;
  /** The pattern without a check of the text after the key, and with optional escapes of quotes. */
  readonly loose: RegExp;
  /** Maximum number of key characters before the sign. */
  readonly before: number;
}

/**
 * Maximum number of characters matched by a format, so that the cost for each sign is bounded: a text of a million signs took
 * quadratic time. A longer key extends to the end of its word.
 */
export const LONGEST_MATCH = 512;

const W = '[A-Za-z0-9_-]';
const A = '[A-Za-z0-9]';
const H = '[0-9a-f]';
const UUID = `${H}{8}(?:-${H}{4}){3}-${H}{12}`;

/** Prefixes of keys, each with a pattern for the rest. */
const BEGINNINGS: readonly (readonly [signs: string, rest: string])[] = [
  // OpenAI, Anthropic, Stripe, and services with the same format
  ['sk-', `(?=${W}*\\d)(?=[\\d_-]*[A-Za-z])(?:ant-|proj-|svcacct-|admin-|or-v1-|lf-)?${W}{20,}`],
  ['pk-lf-', `[0-9a-f-]{36}`],
  ['sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ pk_live_ pk_test_', `${A}{10,}`],
  ['whsec_', '[A-Za-z0-9+/=]{20,}'],
  // Amazon, Google, Alibaba, Yandex, Microsoft
  ['AKIA ASIA AROA AIDA ABIA ACCA', '[A-Z2-7]{16}'],
  ['AIza', `${W}{35}`],
  ['ya29.', `${W}{20,}`],
  ['GOCSPX-', `${W}{28}`],
  ['LTAI', `(?=[A-Za-z]*\\d)${A}{16,24}`],
  ['AQVN', `(?=[A-Za-z_-]*\\d)${W}{35,38}`],
  ['t1.', `[A-Z0-9a-z_-]+={0,2}\\.[A-Z0-9a-z_-]{86}={0,2}`],
  // GitHub, GitLab, Sourcegraph, Bitbucket
  ['ghp_ gho_ ghu_ ghs_ ghr_', `${A}{36,}`],
  ['github_pat_', '[A-Za-z0-9_]{22,}'],
  ['glpat- gldt- glrt- glcbt- glptt- glft- glimt- glsoat- glffct- glagent- gloas-', `${W}{20,}`],
  ['GR1348941', `${W}{20}`],
  ['_gitlab_session=', `${W}{32}`],
  ['sgp_', `(?:${A}{16}_|local_)?[0-9a-fA-F]{40}`],
  ['ATBB', `(?=[A-Za-z]*\\d)${A}{32}`],
  ['ATATT3', '[A-Za-z0-9_=-]{60,}'],
  // Slack, SendGrid, Twilio, Mailgun, Brevo, Discord, Teams
  ['xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xoxp- xoxe.xoxb-', '\\d[A-Za-z0-9-]{10,}'],
  ['xapp-', '\\d-[A-Za-z0-9-]{10,}'],
  ['SG.', '[A-Za-z0-9_=-]{16,}\\.?[A-Za-z0-9_=-]{16,}'],
  ['SK', `${H}{32}`],
  ['key- pubkey-', `${H}{32}`],
  ['xkeysib-', `${W}{81}`],
  // Models and their tools
  ['hf_ api_org_', '(?=[A-Z]*[a-z])(?=[a-z]*[A-Z])[A-Za-z0-9]{34,40}(?!\\w)'],
  ['r8_', `${A}{37}`],
  ['gsk_ xai- pplx- csk-', `${A}{40,}`],
  ['pcsk_', `${A}{4,8}_${A}{50,}`],
  ['lsv2_', `(?:pt|sk)_${H}{32}_${H}{10}`],
  ['ls__', `${H}{32}`],
  ['fw_', `(?=[A-Za-z]*\\d)${A}{20,}`],
  ['co_api_', `${A}{30,}`],
  ['dapi', `${H}{32}(?:-\\d)?`],
  ['tgp_v1_', `${W}{30,}`],
  ['nvapi-', `${W}{60,}`],
  ['jina_', `${A}{50,}`],
  ['tvly-', `(?:dev-|prod-)?${A}{20,}`],
  ['fc-', `${H}{32}`],
  ['e2b_', `${H}{40}`],
  // Registries, hosts, databases
  ['npm_', `${A}{36}`],
  ['pypi-AgEI', `${W}{50,}`],
  ['rubygems_', '[0-9a-z]{48}'],
  ['CLOJARS_', `${A}{60}`],
  ['dckr_pat_', `${W}{27}`],
  ['dop_v1_ doo_v1_ dor_v1_', `${H}{64}`],
  ['HRKU-', `${W}{58,}`],
  ['fo1_', `${W}{43}`],
  ['fm1a_ fm1r_ fm2_', '[A-Za-z0-9+/]{100,}={0,3}'],
  ['rnd_', `(?=[A-Za-z]*\\d)${A}{28,}`],
  ['tk-us-', `${W}{48}`],
  ['pscale_pw_ pscale_tkn_ pscale_oauth_', '[A-Za-z0-9_.=-]{32,64}'],
  ['sbp_', '[0-9a-z]{40}'],
  ['ops_eyJ', '[A-Za-z0-9+/]{100,}={0,3}'],
  ['A3-', '[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}'],
  ['AKCp', `(?=[A-Za-z]*\\d)${A}{69}`],
  ['cmVmd', `(?=[A-Za-z]*\\d)${A}{59}`],
  ['ddp_', `${A}{36}`],
  ['bkua_', '[0-9a-z]{40}'],
  ['slk_', `${H}{64}`],
  ['pul-', '[0-9a-z]{40}'],
  ['pnu_', `${A}{36}`],
  ['sm_aat_ sm_pat_ sm_sat_', `${A}{16,}`],
  ['dnkey-', '[a-z0-9_=-]{26}-[a-z0-9_=-]{52}'],
  ['sha256~', `${W}{43}`],
  ['API-', '(?=[A-Z]*\\d)[A-Z0-9]{26}(?![A-Z0-9])'],
  ['pat. sat.', `${W}{22}\\.${A}{24}\\.${A}{20}`],
  ['hvs. hvb. hvr.', `${W}{24,}`],
  ['dp.pt. dp.st. dp.ct. dp.sa. dp.scim.', `(?:[a-z0-9_-]{2,35}\\.)?${A}{40,44}`],
  // Monitoring
  ['figd_', `${W}{40,}`],
  ['glsa_', '[A-Za-z0-9_]{41}'],
  ['glc_', '[A-Za-z0-9+/]{32,}={0,3}'],
  ['phc_ phx_', `${A}{40,}`],
  ['sntrys_ sntryu_', '[A-Za-z0-9+/=_]{50,}'],
  ['NRAK-', '[A-Za-z0-9]{27}'],
  ['NRJS-', `${H}{19}`],
  ['NRII-', `${W}{32}`],
  ['dt0c01.', `[A-Za-z0-9]{24}\\.[A-Za-z0-9]{64}`],
  ['tskey-', `[a-z]{3,10}-${A}{6,}(?:-${A}{16,})?`],
  ['ico-', `(?=[a-z0-9]*[A-Z])${A}{32}(?!${A})`],
  // Shops, payments, office
  ['shpat_ shpca_ shppa_ shpss_', '[0-9a-fA-F]{32}'],
  ['sq0csp- sq0atp- sq0idp-', `${W}{22,}`],
  ['EAAA', `(?=[A-Za-z_-]*\\d)${W}{60}`],
  ['EAAM EAAC', '[A-Za-z0-9]{80,}'],
  ['EZAK EZTK', `(?=[A-Za-z]*\\d)${A}{54}`],
  ['FLWPUBK_TEST- FLWSECK_TEST- FLWPUBK- FLWSECK-', '[0-9a-z]{12,32}(?:-X)?'],
  ['shippo_live_ shippo_test_', `[0-9a-fA-F]{40}`],
  ['duffel_test_ duffel_live_', '[A-Za-z0-9_=-]{43}'],
  ['access-production- access-sandbox- access-development-', UUID],
  ['live_pub_ test_pub_', `${H}{31}`],
  ['live_ test_', `(?:${H}{35}|(?=[A-Za-z_=-]*\\d)[A-Za-z0-9_=-]{40})`],
  ['lin_api_', `${A}{32,}`],
  ['ntn_', `${A}{40,}`],
  ['secret_', `${A}{43}`],
  ['PMAK-', `${W}{59}`],
  ['CFPAT-', `${W}{43}`],
  ['pk_', '\\d{5,12}_[A-Z0-9]{32}'],
  ['rzp_live_ rzp_test_', `${A}{14}`],
  ['sl.', `(?:u\\.)?${W}{130,}`],
  ['aio_', `${A}{28}`],
  ['apify_api_', `${W}{36}`],
  ['rdme_', `[a-z0-9]{70}`],
  ['tfp_', '[A-Za-z0-9_.=-]{59}'],
  ['fio-u-', '[A-Za-z0-9_=-]{64}'],
  ['pat-na1- pat-na2- pat-eu1-', UUID],
  ['p8e-', `[a-z0-9]{32}`],
  ['s-s4t2ud- s-s4t2af-', `${H}{64}`],
  ['pk.eyJ sk.eyJ', `${W}{10,}\\.${W}{20,}`],
  ['AGE-SECRET-KEY-1', '[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}'],
  // Jackdaw
  ['jd_', `${W}{43}`],
];

/** Formats identified by a literal in the middle or at the end. */
const OTHERS: readonly (readonly [sign: string, pattern: string, before: number])[] = [
  // HCP Terraform, Mailchimp, Azure, Telegram, Cloudflare
  ['.atlasv1.', `${A}{14}\\.atlasv1\\.[A-Za-z0-9_=-]{60,70}`, 14],
  ['-us', `${H}{32}-us\\d{1,2}(?!\\w)`, 32],
  ['Q~', '[A-Za-z0-9_~.]{3}\\dQ~[A-Za-z0-9_~.-]{31,34}', 4],
  [':A', '\\d{5,16}:A[A-Za-z0-9_-]{34}(?![A-Za-z0-9_-])', 16],
  ['v1.0-', `v1\\.0-${H}{24}-${H}{146}`, 0],
  // The URL of such a hook grants access: anyone can post to a channel of Slack, Discord or Teams, or start a workflow.
  ['hooks.slack.com/', 'hooks\\.slack\\.com/(?:services|workflows|triggers)/([A-Za-z0-9/]{20,200})', 0],
  ['hooks.zapier.com/', 'hooks\\.zapier\\.com/hooks/catch/([A-Za-z0-9/]{14,60})', 0],
  ['/api/webhooks/', `/api/webhooks/(\\d{15,22}/${W}{30,100})`, 0],
  ['.webhook.office.com/', `\\.webhook\\.office\\.com/webhookb2/([A-Za-z0-9/@-]{40,200})`, 0],
  // Includes the key itself, up to the end of the text
  [
    '-----BEGIN ',
    '-----BEGIN [A-Z ]{0,20}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=\\s\\\\:,.()]|-(?!-)){0,16384}(?:-----END [A-Z ]{0,20}PRIVATE KEY(?: BLOCK)?-----)?',
    0,
  ],
  [
    'curl ',
    `curl [^\\n]{0,200}?(?:-[A-Za-z]{0,8}u|--user)[ =]{0,2}["']?[^\\s:"'$<{]{1,64}:([^\\s"'$<{][^\\s"']{2,64})`,
    0,
  ],
];

/** Known key formats, from their issuers' documentation and from public secret scanners. */
export const KNOWN_KEYS: readonly KnownKey[] = [
  ...BEGINNINGS.flatMap(([signs, rest]) =>
    signs.split(' ').map((sign) => formOf(sign, sign.replaceAll('.', '\\.') + bounded(rest), 0)),
  ),
  ...OTHERS.map(([sign, pattern, before]) => formOf(sign, pattern, before)),
];

function formOf(sign: string, pattern: string, before: number): KnownKey {
  const flags = before === 0 ? 'y' : '';
  const loose = pattern.replace(/\(\?!(?:\\w|\[[^\]]*\])\)$/, '').replaceAll(`["']?`, `\\\\{0,8}["']?`);
  return { sign, pattern: new RegExp(pattern, flags), loose: new RegExp(loose, flags), before };
}

/** Limits the unlimited repetitions of a pattern. */
function bounded(pattern: string): string {
  const longest = String(LONGEST_MATCH);
  return pattern
    .replaceAll(',}', `,${longest}}`)
    .replaceAll(']*', `]{0,${longest}}`)
    .replaceAll(']+', `]{1,${longest}}`);
}
