import { createHash } from 'node:crypto';
import MarkdownIt from 'markdown-it';
import sanitize from 'sanitize-html';
import type { ShownCard } from '../operations/read-card.ts';

const style =
  'body{max-width:44rem;margin:2rem auto;padding:0 1rem;font:1rem/1.5 sans-serif}pre{overflow:auto}.handle{color:#555}';

/** Nothing is loaded, run, sent or framed, whatever a card contains (CSP level 3). */
export const cardPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const markdown = new MarkdownIt({ html: false });
const { escapeHtml } = markdown.utils;
// A page that loads nothing shows what an image is called.
markdown.renderer.rules.image = (tokens, index) => escapeHtml(tokens[index]?.content ?? '');

const address = /^(?:https?:\/\/|mailto:)/i;

const allowed: sanitize.IOptions = {
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
      // Nothing relative: it would lead to an address of this service.
      attribs: href !== undefined && address.test(href) ? { href, rel: 'nofollow noopener noreferrer' } : {},
    }),
  },
};

/** A card as a small page of its own: the Markdown rendered without raw HTML, then cut down to harmless elements. */
export function cardPage({ handle, display_name, description, skills, card }: ShownCard['card']): string {
  const able = skills.map(
    (skill) => `<li><strong>${escapeHtml(skill.name)}</strong> ${escapeHtml(skill.description)}</li>`,
  );
  return [
    '<!doctype html>',
    '<html lang="en">',
    `<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="nofollow">`,
    `<title>${escapeHtml(display_name)}</title><style>${style}</style></head>`,
    '<body>',
    `<h1>${escapeHtml(display_name)}</h1>`,
    `<p class="handle">@${escapeHtml(handle)}</p>`,
    `<p>${escapeHtml(description)}</p>`,
    ...(able.length > 0 ? [`<ul>${able.join('')}</ul>`] : []),
    sanitize(markdown.render(card), allowed),
    '</body>',
    '</html>',
    '',
  ].join('\n');
}
