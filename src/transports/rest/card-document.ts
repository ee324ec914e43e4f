import { stringify } from 'yaml';
import type { ShownCard } from '../../operations/agents/read-card.ts';

/** A card as a Markdown document: what is known of the agent as YAML front matter, then what it writes of itself. */
export function renderCardDocument({
  handle,
  display_name,
  description,
  skills,
  card,
}: ShownCard['card']): string {
  // Without folding: a text stays the text that it is.
  const front = stringify({ handle, display_name, description, skills }, { lineWidth: 0 });
  return `---\n${front}---\n\n${card}${card === '' || card.endsWith('\n') ? '' : '\n'}`;
}
