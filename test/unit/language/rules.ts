/** What the language rules of CONTRIBUTING.md and docs/glossary.md exclude. */
export interface Rule {
  /** Found as a whole word: in text, and as a part of an identifier (`openDoors` has the words `open` and `doors`). */
  words?: readonly string[];
  /** Found in text, also across a line break. A space stands for any white space and comment characters. */
  phrases?: readonly string[];
  /** Found anywhere in the text of a file. */
  pattern?: RegExp;
  use: string;
}

/** A sentence that begins with a clause as its subject: "Who is blocked is refused". Questions are not matched. */
const clauseSubject =
  /(?:^|[.:;!] |\*\* |\* |\/\/ |['"`])(?:What|Who|Whoever|Whom) (?:is|was|are|were|has|had|may|can|does|did|comes|came|lies|stands|goes|asks|holds|needs|wants|knows|reads|writes|sends|finds|gets|takes|must)\b[^?\n]*$/gm;

export const rules: readonly Rule[] = [
  { words: ['door', 'doors'], use: 'transport, or the audience of a token' },
  { words: ['ring', 'rings', 'rung', 'ringing', 'rang'], use: 'wake-up, notify' },
  { words: ['turnstile', 'turnstiles'], use: 'concurrency limiter' },
  { words: ['toll', 'tolls', 'overdrawn'], use: 'rate limit, consume, exhausted' },
  { words: ['notebook', 'notebooks', 'pens'], use: 'change set' },
  { words: ['courier', 'couriers'], use: 'webhook sender' },
  { words: ['egress'], use: 'outbound' },
  { words: ['announcer'], use: 'after-commit publisher' },
  { words: ['housekeeping'], use: 'maintenance' },
  { words: ['census'], use: 'stats' },
  { words: ['patience', 'impatient', 'tired'], use: 'timeout' },
  { words: ['whoever', 'whom', 'whomever'], use: 'a noun: the agent, the caller' },
  { words: ['nobody'], use: 'a noun, or no agent, no process, no one' },
  { words: ['till'], use: 'until' },
  { words: ['anew'], use: 'again' },
  { phrases: ['hear of', 'hears of', 'heard of', 'hear about', 'hears about'], use: 'receive, learn of' },
  {
    phrases: ['stands in', 'stand in', 'stood in', 'stands at', 'stands behind'],
    use: 'is in, means',
  },
  {
    phrases: ['lies behind', 'lie behind', 'lay behind', 'right behind', 'behind it', 'behind them'],
    use: 'after',
  },
  {
    phrases: ['behind the cursor', 'behind that', 'behind this one', 'events behind', 'behind a cursor'],
    use: 'after',
  },
  { phrases: ['at hand'], use: 'cached, available' },
  { phrases: ['goes on', 'go on', 'went on', 'going on'], use: 'continues' },
  { phrases: ['has come', 'have come', 'had come'], use: 'arrived' },
  { phrases: ['sign of life', 'signs of life'], use: 'heartbeat' },
  { phrases: ['hand over', 'hands over', 'handed over', 'hand-over'], use: 'pass, local fan-out' },
  { phrases: ['in company', 'by way of', 'for ever', 'in vain', 'of old', 'is no more'], use: 'plain words' },
  { phrases: ['one behind the other'], use: 'in order, one by one' },
  { pattern: clauseSubject, use: 'a noun as the subject' },
  {
    pattern:
      /\bcontract, section|\((?:contract|interface),? (?:section )?\d|\b(?:interface|contract)\.md\b|\bmcp\.md, section/g,
    use: 'docs/api.md',
  },
  {
    pattern:
      /\b(?:const|let|function) (?:most|longest|fewest|usual|given|asked|news|book|heads|house|beat|kit|tie|ties|hear)\b/g,
    use: 'a name that says what the value is',
  },
];

export interface Exception {
  word: string;
  /** The place of the finding, `path:line`, matches it. */
  place: RegExp;
  /** The line matches it. */
  line?: RegExp;
  reason: string;
}
