import MarkdownIt from 'markdown-it';
import { scrollTables } from '../../http/render-card-body.ts';

const markdown = new MarkdownIt({ html: true });
const { rules } = markdown.renderer;
// The pages have comments for tests, and pictures of the console, which are not served.
rules.html_block = () => '';
rules.html_inline = () => '';
scrollTables(markdown);
rules['heading_open'] = (tokens, index, _options, environment: { ids: Map<string, number> }) => {
  const id = anchorOf(tokens[index + 1]?.children?.map(({ content }) => content).join('') ?? '');
  const { ids } = environment;
  const count = ids.get(id) ?? 0;
  ids.set(id, count + 1);
  return `<${tokens[index]?.tag} id="${id}${count > 0 ? `-${count}` : ''}">`;
};

/** The anchor that a heading has on GitHub. */
function anchorOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

interface MarkdownProps {
  /** Text of this service. HTML in it is left out. */
  text: string;
  /** The address for that of a link. Undefined: the link is only text. */
  toLink?: (address: string) => string | undefined;
}

export function Markdown({ text, toLink = (address) => address }: MarkdownProps) {
  const environment = { ids: new Map<string, number>() };
  const tokens = markdown.parse(text, environment);
  for (const token of tokens.flatMap(({ children }) => children ?? [])) {
    if (token.type !== 'link_open') continue;
    const address = toLink(token.attrGet('href') ?? '');
    if (address === undefined) token.attrs = null;
    else token.attrSet('href', address);
  }
  const html = markdown.renderer.render(tokens, markdown.options, environment);
  return <div class="prose" dangerouslySetInnerHTML={{ __html: html }} />;
}
