// A model on loopback in all three dialects: reply(turn) says what it answers, as text or as calls of tools.
import http from 'node:http';

const plain = (content) => (typeof content === 'string' ? content : (content ?? []).map((p) => p.text ?? '').join(''));

/** What was asked, the same whatever the dialect: system, the messages' roles and texts, results of tools. */
function read(url, body) {
  if (url.endsWith('/chat/completions')) {
    const m = body.messages;
    return { dialect: 'openai-chat', system: m.filter((x) => x.role === 'system').map((x) => plain(x.content)).join('\n'),
      messages: m.filter((x) => x.role !== 'system').map((x) => ({ role: x.role, text: plain(x.content), calls: (x.tool_calls ?? []).map((c) => c.function.name) })),
      results: m.filter((x) => x.role === 'tool').map((x) => plain(x.content)), tools: (body.tools ?? []).map((x) => x.function.name) };
  }
  if (url.endsWith('/responses')) {
    const input = body.input;
    return { dialect: 'openai-responses', system: body.instructions ?? input.filter((x) => x.role === 'system').map((x) => plain(x.content)).join('\n'),
      messages: input.filter((x) => x.role && x.role !== 'system').map((x) => ({ role: x.role, text: plain(x.content), calls: [] })),
      results: input.filter((x) => x.type === 'function_call_output').map((x) => x.output), tools: (body.tools ?? []).map((x) => x.name) };
  }
  const results = body.messages.flatMap((x) => (Array.isArray(x.content) ? x.content : []).filter((p) => p.type === 'tool_result').map((p) => plain(p.content)));
  return { dialect: 'anthropic', system: plain(body.system), messages: body.messages.map((x) => ({ role: x.role, text: plain(x.content), calls: [] })),
    results, tools: (body.tools ?? []).map((x) => x.name) };
}

function* chat({ text, calls }) {
  const chunk = (delta, finish = null) => `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  for (const piece of (text ?? '').match(/.{1,7}/gsu) ?? []) yield chunk({ content: piece });
  for (const [i, c] of (calls ?? []).entries()) {
    yield chunk({ tool_calls: [{ index: i, id: `call_${i}`, type: 'function', function: { name: c.name, arguments: '' } }] });
    for (const piece of JSON.stringify(c.arguments).match(/.{1,5}/gsu)) yield chunk({ tool_calls: [{ index: i, function: { arguments: piece } }] });
  }
  yield chunk({}, calls ? 'tool_calls' : 'stop');
  yield `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } })}\n\ndata: [DONE]\n\n`;
}

function* responses({ text, calls }) {
  const event = (type, data) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
  const output = [];
  yield event('response.created', { response: { id: 'resp_1', status: 'in_progress' } });
  if (text) {
    yield event('response.output_item.added', { output_index: 0, item: { id: 'msg_1', type: 'message', role: 'assistant', content: [] } });
    for (const piece of text.match(/.{1,7}/gsu)) yield event('response.output_text.delta', { item_id: 'msg_1', output_index: 0, content_index: 0, delta: piece });
    output.push({ id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] });
    yield event('response.output_item.done', { output_index: 0, item: output[0] });
  }
  for (const [i, c] of (calls ?? []).entries()) {
    const item = { id: `fc_${i}`, type: 'function_call', call_id: `call_${i}`, name: c.name, arguments: JSON.stringify(c.arguments) };
    yield event('response.output_item.added', { output_index: i, item: { ...item, arguments: '' } });
    yield event('response.function_call_arguments.delta', { item_id: item.id, output_index: i, delta: item.arguments });
    yield event('response.function_call_arguments.done', { item_id: item.id, output_index: i, arguments: item.arguments });
    yield event('response.output_item.done', { output_index: i, item });
    output.push(item);
  }
  yield event('response.completed', { response: { id: 'resp_1', status: 'completed', output, usage: { input_tokens: 5, output_tokens: 2, total_tokens: 7 } } });
}

function* anthropic({ text, calls }) {
  const event = (type, data) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
  let index = 0;
  yield event('message_start', { message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 5, output_tokens: 1 } } });
  if (text) {
    yield event('content_block_start', { index, content_block: { type: 'text', text: '' } });
    for (const piece of text.match(/.{1,7}/gsu)) yield event('content_block_delta', { index, delta: { type: 'text_delta', text: piece } });
    yield event('content_block_stop', { index: index++ });
  }
  for (const c of calls ?? []) {
    yield event('content_block_start', { index, content_block: { type: 'tool_use', id: `call_${index}`, name: c.name, input: {} } });
    for (const piece of JSON.stringify(c.arguments).match(/.{1,5}/gsu)) yield event('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: piece } });
    yield event('content_block_stop', { index: index++ });
  }
  yield event('message_delta', { delta: { stop_reason: calls ? 'tool_use' : 'end_turn' }, usage: { output_tokens: 2 } });
  yield event('message_stop', {});
}

const writers = { 'openai-chat': chat, 'openai-responses': responses, anthropic };

/** reply(turn, nth) → { text } | { calls: [{ name, arguments }] } | { status, body } | { hang: true }. */
export async function fakeModel(t, reply = () => ({ text: 'fine.' })) {
  const fake = { turns: [] };
  const server = http.createServer((rq, rs) => {
    const parts = [];
    rq.on('data', (d) => parts.push(d));
    rq.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString());
      const turn = { ...read(rq.url, body), body, authorization: rq.headers.authorization ?? rq.headers['x-api-key'] };
      fake.turns.push(turn);
      const answer = reply(turn, fake.turns.length);
      if (answer.status) {
        rs.writeHead(answer.status, { 'content-type': 'application/json' });
        return rs.end(JSON.stringify(answer.body ?? { error: { message: 'no' } }));
      }
      rs.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const bytes of writers[turn.dialect](answer)) {
        rs.write(bytes);
        if (answer.hang) return; // after the first piece, for ever
      }
      rs.end();
    });
  });
  await new Promise((r) => server.listen(0, '127.0.0.1', r));
  t.after(() => { server.closeAllConnections(); server.close(); });
  fake.url = `http://127.0.0.1:${server.address().port}/v1`;
  fake.env = { TALARIA_MODEL_BASE_URL: fake.url, TALARIA_MODEL: 'm', TALARIA_MODEL_DIALECT: 'openai-chat' };
  return fake;
}
