import { BaseFormatConverter, parseMarkdown, type Root, stringifyMarkdown } from 'chat';

/** Markdown of the service is the Markdown of the SDK. */
class MarkdownConverter extends BaseFormatConverter {
  override toAst(text: string): Root {
    return parseMarkdown(text);
  }

  override fromAst(ast: Root): string {
    return stringifyMarkdown(ast).trimEnd();
  }
}

export const markdown = new MarkdownConverter();
