// Asks a server a question of each kind with the client that openapi-typescript and openapi-fetch make of the server's
// OpenAPI document: ask.ts ADDRESS REPORT, a report
// in base64. Of each answer it prints a line, as main.go does.
import createClient from 'openapi-fetch'
import type { components, paths } from './waybill'

declare const process: { argv: string[] }
const [address = '', report = ''] = process.argv.slice(2)
const client = createClient<paths>({ baseUrl: address })

/** The value, which must be there. */
function there<T>(value: T | null | undefined): T {
  if (value == null) throw new Error('an answer lacks something')
  return value
}

const filter = 'packets > 0'
const list = await client.GET('/api/v1/flows', { params: { query: { filter } } })
const flows = list.data as components['schemas']['FlowList'] // with interval it is a FlowHistory, with format=csv a text
const packets = there(flows.flows).reduce((sum, flow) => sum + flow.packets, 0)
console.log(`list: ${flows.total} flows, ${packets} packets`)

const { id } = there(there(flows.flows)[0])
const one = there((await client.GET('/api/v1/flows/{id}', { params: { path: { id } } })).data)
console.log(`one: ${one.flow.id === id} ${one.flow.src} ${one.flow.dst}`)

const topology = there((await client.GET('/api/v1/topology')).data)
console.log(`document: ${there(topology.nodes).length} nodes, ${there(topology.links).length} links`)

const query = { filter, format: 'csv' as const }
const table = await client.GET('/api/v1/flows', { params: { query }, parseAs: 'text' })
const lines = there(table.data).split('\n').length - 1
console.log(`table: ${lines} lines of ${table.response.headers.get('Content-Type')}`)

const refused = await client.GET('/api/v1/flows', { params: { query: { filter: 'packets >' } } })
const problem = there(refused.error)
console.log(`problem: ${problem.status} ${problem.parameter} ${problem.detail}`)

const body = { name: 'drops of s1', address: 'drops?filter=node+%3D+1' }
const added = await client.POST('/api/v1/views', { body })
const view = there(added.data)
console.log(`change: ${added.response.status} ${view.page} ${view.name}`)
const removed = await client.DELETE('/api/v1/views/{id}', { params: { path: { id: view.id } } })
console.log(`removal: ${removed.response.status}`)

const decoded = await client.POST('/api/v1/decode', {
  body: '',
  bodySerializer: () => new Blob([Uint8Array.from(atob(report), (c) => c.charCodeAt(0))]),
  headers: { 'Content-Type': 'application/octet-stream' },
})
const layers = there(there(decoded.data).layers)
console.log(`bytes: ${there(decoded.data).length} ${there(layers[0]).name}`)

const stop = new AbortController()
const stream = await client.GET('/api/v1/events/stream', { parseAs: 'stream', signal: stop.signal })
let text = ''
for await (const piece of there(stream.data as ReadableStream<Uint8Array> | undefined)) {
  text += new TextDecoder().decode(piece)
  const kind = /^event: (.*)$/m.exec(text)?.[1]
  if (kind !== undefined) {
    console.log(`stream: ${kind}`)
    break
  }
}
stop.abort()
