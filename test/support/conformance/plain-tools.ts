import type { ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import { DomainError } from '../../../src/domain/errors.ts';
import type { Tool } from '../../../src/mcp/tools.ts';
import { onePixel, silence } from './bytes.ts';
import { everyKeyword } from './every-keyword.ts';
import { plainFixture, text } from './fixture.ts';

const image: ContentBlock = { type: 'image', data: onePixel, mimeType: 'image/png' };

/** The tools of the suite that only answer. */
export const plainTools: readonly Tool[] = [
  plainFixture({ name: 'test_simple_text', description: 'Answers a text.' }, () => [
    text('This is a simple text response for testing.'),
  ]),
  plainFixture({ name: 'test_image_content', description: 'Answers an image.' }, () => [image]),
  plainFixture({ name: 'test_audio_content', description: 'Answers a sound.' }, () => [
    { type: 'audio', data: silence, mimeType: 'audio/wav' },
  ]),
  plainFixture({ name: 'test_embedded_resource', description: 'Answers a resource.' }, () => [
    embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ]),
  plainFixture(
    { name: 'test_multiple_content_types', description: 'Answers content of three types.' },
    () => [
      text('Multiple content types test:'),
      image,
      embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  ),
  plainFixture({ name: 'test_error_handling', description: 'Fails.' }, () => {
    throw new DomainError('VALIDATION_ERROR', 'This tool intentionally returns an error for testing');
  }),
  plainFixture(
    {
      name: 'json_schema_2020_12_tool',
      description: 'Has arguments that need much of JSON Schema 2020-12 to be described.',
      schema: everyKeyword,
    },
    () => [text('These arguments are good.')],
  ),
];

function embedded(uri: string, mimeType: string, words: string): ContentBlock {
  return { type: 'resource', resource: { uri, mimeType, text: words } };
}
