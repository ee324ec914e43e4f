import { expect, test } from 'vitest';
import { plainText } from '../../../../src/transports/console/pages/conversations/rows.tsx';

test.each([
  ['# Title\n\n- **one**', 'Title\none'],
  ['See [the plan](https://example.org/plan "Plan") and ![a map](map.png).', 'See the plan and a map.'],
  ['See [the plan](https://exam', 'See the plan'],
  ['An [index] (no link), a[0](b) and [c](d e', 'An [index] (no link), a0 and [c](d e'],
  ['[[[ ]( [', '[[[ ]( ['],
])('the beginning of the Markdown %j is %j', (markdown, text) => {
  expect(plainText(markdown, 'markdown')).toBe(text);
  expect(plainText(markdown, 'text')).toBe(markdown);
});
