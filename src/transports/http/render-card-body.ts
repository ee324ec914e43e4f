import { LRUCache } from 'lru-cache';
import MarkdownIt from 'markdown-it';
import sanitize from 'sanitize-html';

const markdown = new MarkdownIt({ html: false });
export const { escapeHtml } = markdown.utils;
// The page loads no images and shows their alternative text.
markdown.renderer.rules.image = (tokens, index) => escapeHtml(tokens[index]?.content ?? '');

const linkPattern = /^(?:https?:\/\/|mailto:)/i;

const sanitizeOptions: sanitize.IOptions = {
  allowedTags:
    'h1 h2 h3 h4 h5 h6 p blockquote pre hr br ul ol li a em strong s code table thead tbody tr th td'.split(
      ' ',
    ),
  allowedAttributes: { a: ['href', 'rel'] },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowProtocolRelative: false,
  transformTags: {
    a: (tagName, { href }) => ({
      tagName,
      // No relative links: they would point to this service.
      attribs:
        href !== undefined && linkPattern.test(href) ? { href, rel: 'nofollow noopener noreferrer' } : {},
    }),
  },
};

/** Real cards have a few thousand tokens. A hostile table can expand to 20 times its text. */
const maxTokens = 20_000;
/** Rendering can take 100 ms, and anybody can request it. */
const cache = new LRUCache<string, string>({ max: 64, memoMethod: render });

/**
 * The body of a card as sanitized HTML; as preformatted text when it has too many tokens. Rendering can take 100 ms and cards are
 * public, so the 64 most recently used results are cached.
 */
export function renderCardBody(source: string): string {
  return cache.memo(source);
}

function render(source: string): string {
  const env = {};
  const tokens = markdown.parse(source, env);
  if (tokens.length > maxTokens) return `<pre>${escapeHtml(source)}</pre>`;
  return sanitize(markdown.renderer.render(tokens, markdown.options, env), sanitizeOptions);
}
