// Made from the API description by npm run generate:api.
export interface paths {
  '/api/v1/admin/audit': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listAudit'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/admin/backup': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['backUpData'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/admin/export': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readExport'];
    put?: never;
    post: operations['exportData'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/admin/keys': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listKeys'];
    put?: never;
    post: operations['createKey'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/admin/keys/{key_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    delete: operations['revokeKey'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/admin/orgs': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listOrganizations'];
    put?: never;
    post: operations['createOrganization'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/admin/orgs/{slug}/members': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listMembers'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/admin/orgs/{slug}/members/{user_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put: operations['putMember'];
    post?: never;
    delete: operations['removeMember'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/admin/reload': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['reloadDaemon'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/admin/service-map/rebuild': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['rebuildServiceMap'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/admin/users': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listUsers'];
    put?: never;
    post: operations['createUser'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/admin/users/{user_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch: operations['updateUser'];
    trace?: never;
  };
  '/api/v1/agents': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listAgents'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/agents/{agent_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readAgent'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/agents/{agent_id}/runs': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listAgentRuns'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/agents/{agent_id}/stats': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readAgentStats'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/alerts': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listAlerts'];
    put?: never;
    post: operations['createAlert'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/alerts/{alert_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readAlert'];
    put?: never;
    post?: never;
    delete: operations['deleteAlert'];
    options?: never;
    head?: never;
    patch: operations['updateAlert'];
    trace?: never;
  };
  '/api/v1/alerts/{alert_id}/events': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listAlertEvents'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/alerts/{alert_id}/send-test': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['sendAlertTest'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/alerts/{alert_id}/test': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['testAlert'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/alerts/preview': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['previewAlert'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/daemon': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readDaemon'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/daemon/config': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readDaemonConfig'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/alert-events': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listFiredAlerts'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/groups': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readRunGroups'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/logs/{log_id}/trace': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readLogTrace'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/logs/facets': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readLogFacets'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/logs/search': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['searchLogs'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/metrics/': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listMetrics'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/metrics/labels': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listMetricLabels'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/metrics/query': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['queryMetric'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/metrics/series': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readMetricSeries'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/models': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listModels'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/models/what-if': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readWhatIf'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/prices': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listPrices'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/prompts/': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listPrompts'];
    put?: never;
    post: operations['createPrompt'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/prompts/{name}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    delete: operations['deletePrompt'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/prompts/{name}/compare': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['comparePromptVersions'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/prompts/{name}/label-history': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listPromptLabelMoves'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/prompts/{name}/labels': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listPromptLabels'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/prompts/{name}/labels/{label}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readPromptLabel'];
    put: operations['movePromptLabel'];
    post?: never;
    delete: operations['removePromptLabel'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/prompts/{name}/versions': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listPromptVersions'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/prompts/{name}/versions/{version}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    delete: operations['deletePromptVersion'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/prompts/names': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['findPromptNames'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/prompts/usage': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['recordPromptUsage'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/rejections': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listRejections'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/repositories': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listRepositories'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/scores': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readScores'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/search': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['searchAll'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/series': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readRunSeries'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/service-map/': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readServiceMap'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/service-map/hours': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readServiceMapHours'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/sessions': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listSessions'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/sessions/{session_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readSession'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/stream': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['followChanges'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/tools': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listTools'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/traces': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listTraces'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/traces/{trace_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readTrace'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/traces/{trace_id}/outcome': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch: operations['setTraceOutcome'];
    trace?: never;
  };
  '/api/v1/dashboard/traces/{trace_id}/search': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['searchTrace'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/traces/{trace_id}/spans': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readTraceSpans'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/traces/{trace_id}/spans/{span_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readSpan'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/traces/{trace_id}/spans/{span_id}/explain': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['explainSpan'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/traces/compare-agents': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['compareAgents'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/traces/search-series': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readSearchSeries'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/traces/values': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listRunValues'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/users': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listEndUsers'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/users/tool-decisions': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readToolDecisions'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/views': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listViews'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/dashboard/views/{view_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put: operations['putView'];
    post?: never;
    delete: operations['deleteView'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/me': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readMe'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/me/alert-secret': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readAlertSecret'];
    put?: never;
    post: operations['rotateAlertSecret'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/me/keys': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listMyKeys'];
    put?: never;
    post: operations['createMyKey'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/me/keys/{key_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    delete: operations['revokeMyKey'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/me/sessions': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listMySessions'];
    put?: never;
    post?: never;
    delete: operations['revokeMySessions'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/me/sessions/{session_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    delete: operations['revokeMySession'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/openapi.json': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readOpenApi'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/org/{org_slug}/webhooks/deliveries': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listOrganizationDeliveries'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/org/{org_slug}/webhooks/deliveries/{delivery_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readWebhookDelivery'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/org/{org_slug}/webhooks/deliveries/{delivery_id}/retry': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['retryWebhookDelivery'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/org/{org_slug}/webhooks/deliveries/retry': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['retryWebhookDeliveries'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/org/{org_slug}/webhooks/endpoints': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listWebhookEndpoints'];
    put?: never;
    post: operations['createWebhookEndpoint'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/org/{org_slug}/webhooks/endpoints/{endpoint_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    delete: operations['deleteWebhookEndpoint'];
    options?: never;
    head?: never;
    patch: operations['updateWebhookEndpoint'];
    trace?: never;
  };
  '/api/v1/org/{org_slug}/webhooks/endpoints/{endpoint_id}/deliveries': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listWebhookDeliveries'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/org/{org_slug}/webhooks/endpoints/{endpoint_id}/rotate-secret': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['rotateWebhookSecret'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/org/{org_slug}/webhooks/endpoints/{endpoint_id}/test': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['testWebhookEndpoint'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/otlp/v1/logs': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['exportLogs'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/otlp/v1/metrics': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['exportMetrics'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/otlp/v1/traces': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['exportTraces'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/prompts/{name}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readPrompt'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/scores': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['sendScores'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/session': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['openBrowserSession'];
    delete: operations['closeBrowserSession'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/session/links': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['createSessionLink'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/session/links/read': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['readSessionLink'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/traces/batch': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['ingestTraces'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/usage': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readUsage'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/usage/daily': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['readDailyUsage'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    AgentComparison: {
      agents: components['schemas']['ComparedAgent'][];
    };
    AgentDay: {
      avg_latency_ms: number | null;
      /** Format: date */
      date: string;
      estimate?: components['schemas']['EstimatedRuns'];
      failed_runs: number;
      failure_count: number;
      failure_percentage: number | null;
      p95_latency_ms: number | null;
      success_count: number;
      success_rate: number | null;
      total_cost: number;
      total_runs: number;
      total_tokens: number;
    };
    AgentDetail: {
      avg_cost_per_run: number | null;
      /** Format: date-time */
      created_at: string;
      estimate?: components['schemas']['EstimatedRuns'];
      failed_runs: number;
      failure_count: number;
      failure_percentage: number | null;
      /** Format: uuid */
      id: string;
      last_run_at: string | null;
      name: string;
      success_count: number;
      success_percentage: number | null;
      total_cost: number | null;
      total_runs: number;
    };
    AgentPage: {
      count: number;
      has_more: boolean;
      items: components['schemas']['AgentSummary'][];
      page: number;
      page_size: number;
    };
    AgentStats: {
      /** Format: uuid */
      agent_id: string;
      agent_name: string;
      daily: components['schemas']['AgentDay'][];
      /** @enum {unknown} */
      window: '7d' | '30d' | '90d';
    };
    AgentSummary: {
      avg_cost_per_run: number | null;
      /** Format: date-time */
      created_at: string;
      failed_runs: number;
      failure_percentage: number | null;
      /** Format: uuid */
      id: string;
      last_run_at: string | null;
      name: string;
      periods?: components['schemas']['ComparedPeriods'];
      success_percentage: number | null;
      total_cost: number | null;
      total_runs: number;
    };
    AlertChange: {
      /** @enum {unknown} */
      channel?: 'email' | 'webhook' | 'both' | null;
      cooldown_minutes?: number | null;
      is_active?: boolean | null;
      min_samples?: number | null;
      name?: string | null;
      threshold?: number | null;
      webhook_url?: string | null;
      /** @enum {unknown} */
      window_minutes?: 0 | 5 | 15 | 30 | 60 | 180 | 360 | 720 | 1440 | null;
    };
    AlertComposition: {
      conditions: components['schemas']['AlertCondition'][] & (unknown & unknown);
      /** @enum {unknown} */
      operator: 'and' | 'or';
    };
    AlertCompositionInput: {
      conditions: components['schemas']['AlertConditionInput'][] & (unknown & unknown);
      /** @enum {unknown} */
      operator: 'and' | 'or';
    };
    AlertCondition:
      | {
          metric_name?: string;
          /** @enum {unknown} */
          operator?: 'gt' | 'lt' | 'gte' | 'lte';
          /** @enum {unknown} */
          source: 'ai' | 'infra';
          threshold?: number;
          /** @enum {unknown} */
          type: 'failure_rate' | 'inactivity' | 'cost_threshold' | 'metric_threshold';
          value?: number;
        }
      | {
          metric_name: string;
          operator: string;
          /** @constant */
          source: 'infra';
          threshold?: null;
          /** @constant */
          type: 'metric_threshold';
          value: number;
        }
      | {
          metric_name?: null;
          operator?: null;
          /** @constant */
          source: 'ai';
          threshold: number;
          /** @constant */
          type: 'failure_rate';
          value?: null;
        }
      | {
          metric_name?: null;
          operator?: null;
          /** @constant */
          source: 'ai';
          threshold: number;
          /** @constant */
          type: 'inactivity';
          value?: null;
        }
      | {
          metric_name?: null;
          operator?: null;
          /** @constant */
          source: 'ai';
          threshold: number;
          /** @constant */
          type: 'cost_threshold';
          value?: null;
        };
    AlertConditionInput:
      | {
          metric_name?: string | null;
          /** @enum {unknown} */
          operator?: 'gt' | 'lt' | 'gte' | 'lte' | null;
          /** @enum {unknown} */
          source: 'ai' | 'infra';
          threshold?: number | null;
          /** @enum {unknown} */
          type: 'failure_rate' | 'inactivity' | 'cost_threshold' | 'metric_threshold';
          value?: number | null;
        }
      | {
          metric_name: string;
          operator: string;
          /** @constant */
          source: 'infra';
          threshold?: null;
          /** @constant */
          type: 'metric_threshold';
          value: number;
        }
      | {
          metric_name?: null;
          operator?: null;
          /** @constant */
          source: 'ai';
          threshold: number;
          /** @constant */
          type: 'failure_rate';
          value?: null;
        }
      | {
          metric_name?: null;
          operator?: null;
          /** @constant */
          source: 'ai';
          threshold: number;
          /** @constant */
          type: 'inactivity';
          value?: null;
        }
      | {
          metric_name?: null;
          operator?: null;
          /** @constant */
          source: 'ai';
          threshold: number;
          /** @constant */
          type: 'cost_threshold';
          value?: null;
        };
    AlertEvent: {
      /** Format: date-time */
      fired_at: string;
      /** Format: uuid */
      id: string;
      is_test: boolean;
      notifications: components['schemas']['AlertNotification'][];
      resolved_at: string | null;
      threshold: number;
      value: number | null;
    };
    AlertEventPage: {
      count: number;
      has_more: boolean;
      items: components['schemas']['AlertEvent'][];
      page: number;
      page_size: number;
    };
    AlertNotification: {
      attempts: components['schemas']['NotificationAttempt'][];
      /** @enum {unknown} */
      channel: 'email' | 'webhook';
      detail: string | null;
      /** @enum {unknown} */
      status: 'pending' | 'sent' | 'failed' | 'skipped' | 'suppressed';
    };
    AlertPreview: {
      conditions: (number | null)[][];
      firings: components['schemas']['PreviewedFiring'][];
      now: components['schemas']['AlertTest'];
      points: (number | null)[][];
      step_seconds: number;
    };
    AlertPreviewRequest: {
      alert: components['schemas']['NewAlertInput'];
      /** @default 24 */
      hours: number | null;
    };
    AlertRule: {
      agent_id: string | null;
      agent_name: string | null;
      all_agents: boolean;
      /** @enum {unknown} */
      channel: 'email' | 'webhook' | 'both';
      composite_config: components['schemas']['AlertComposition'] | null;
      cooldown_minutes: number;
      /** Format: date-time */
      created_at: string;
      /** Format: uuid */
      id: string;
      is_active: boolean;
      is_firing: boolean;
      last_fired_at: string | null;
      min_samples: number | null;
      name: string | null;
      score_config: components['schemas']['AlertScore'] | null;
      target_service: string | null;
      threshold: number;
      /** @enum {unknown} */
      type:
        | 'failure_rate'
        | 'inactivity'
        | 'cost_threshold'
        | 'latency_threshold'
        | 'score_threshold'
        | 'composite';
      webhook_url: string | null;
      window_minutes: number | null;
    };
    AlertScore: {
      /** @enum {unknown} */
      direction: 'below' | 'above';
      min_samples: number;
      score_name: string;
    };
    AlertSecretState: {
      created_at: string | null;
      exists: boolean;
    };
    AlertTarget: {
      id: string;
      /** @enum {unknown} */
      kind: 'agent' | 'all_agents' | 'service';
      name: string;
    };
    AlertTest: {
      can_mail: boolean;
      conditions: components['schemas']['TriedCondition'][];
      is_evaluated: boolean;
      sample_count: number;
      threshold: number;
      unit: ('ratio' | 'hours' | 'usd' | 'ms' | 'score') | null;
      value: number | null;
      /** @enum {unknown} */
      verdict: 'met' | 'not_met' | 'no_data';
      window: components['schemas']['AlertWindow'];
    };
    AlertWindow: {
      /** Format: date-time */
      from: string;
      /** Format: date-time */
      to: string;
    };
    ApiKey: {
      /** Format: date-time */
      created_at: string;
      expires_at: string | null;
      /** Format: uuid */
      id: string;
      last_used_at: string | null;
      name: string;
      parent_id: string | null;
      prefix: string;
      revoked_at: string | null;
      scopes: ('write' | 'read' | 'manage' | 'delegate' | 'feedback' | 'admin')[];
      /** Format: uuid */
      user_id: string;
    };
    Attribute: {
      key: string;
      value: Record<string, never>;
    };
    AuditEntry: {
      action: string;
      address: string;
      /** Format: date-time */
      at: string;
      fields: Record<string, never>;
      key_id: string | null;
      user_id: string | null;
    };
    AuditPage: {
      count: number;
      has_more: boolean;
      items: components['schemas']['AuditEntry'][];
      page: number;
      page_size: number;
    };
    ChangedMember: {
      /** @enum {unknown} */
      role: 'admin' | 'member';
      slug: string;
      /** Format: uuid */
      user_id: string;
    };
    ComparedAgent: {
      avg_cost_per_run: number | null;
      failed_runs: number;
      failure_percentage: number | null;
      /** Format: uuid */
      id: string;
      last_run_at: string | null;
      name: string;
      p95_latency_ms: number | null;
      success_rate: number | null;
      total_cost: number | null;
      total_runs: number;
    };
    ComparedPeriods: {
      previous_total: components['schemas']['PeriodTotals'];
      total: components['schemas']['PeriodTotals'];
    };
    CreatedApiKey: {
      /** Format: date-time */
      created_at: string;
      expires_at: string | null;
      /** Format: uuid */
      id: string;
      key: string;
      last_used_at: string | null;
      name: string;
      parent_id: string | null;
      prefix: string;
      revoked_at: string | null;
      scopes: ('write' | 'read' | 'manage' | 'delegate' | 'feedback' | 'admin')[];
      /** Format: uuid */
      user_id: string;
    };
    CreatedWebhookEndpoint: {
      /** Format: date-time */
      created_at: string;
      event_types: string[];
      /** Format: uuid */
      id: string;
      is_active: boolean;
      name: string;
      secret: string;
      url: string;
    };
    CurrentSession: {
      /** Format: date-time */
      expires_at: string;
      /** Format: uuid */
      id: string;
    };
    Daemon: {
      /** Format: date-time */
      at: string;
      components: components['schemas']['DaemonComponent'][];
      edges: components['schemas']['DaemonEdge'][];
      /** @enum {unknown} */
      phase: 'starting' | 'running' | 'stopping' | 'stopped';
      pipelines: components['schemas']['DaemonPipeline'][];
      /** Format: date-time */
      started_at: string;
      uptime_s: number;
      version: string;
    };
    DaemonComponent: {
      id: string;
      /** @enum {unknown} */
      kind: 'receiver' | 'processor' | 'exporter' | 'extension';
      message: string | null;
      pipeline: string | null;
      /** @enum {unknown} */
      state:
        | 'created'
        | 'starting'
        | 'ok'
        | 'degraded'
        | 'recoverable'
        | 'permanent'
        | 'fatal'
        | 'stopping'
        | 'stopped';
    };
    DaemonEdge: {
      accepted: number;
      failed: number;
      from: components['schemas']['EdgeEnd'];
      offered: number;
      p99_ms: number | null;
      pipeline: string;
      queue: components['schemas']['QueueFill'] | null;
      refused: number;
      to: components['schemas']['EdgeEnd'];
    };
    DaemonPipeline: {
      exporters: string[];
      name: string;
      processors: string[];
      receivers: string[];
      /** @enum {unknown} */
      signal: 'traces' | 'metrics' | 'logs' | 'events';
      threaded_receivers: string[];
    };
    DailyUsage: {
      /** Format: date */
      date: string;
      events: number | null;
      reasons: components['schemas']['RefusedItems'][];
      refused: number | null;
    };
    EdgeEnd: {
      id: string;
      /** @enum {unknown} */
      kind: 'receiver' | 'processor' | 'exporter';
    };
    EndUser: {
      failed_runs: number;
      /** Format: date-time */
      last_at: string;
      total_cost: number | null;
      total_runs: number;
      total_sessions: number;
      total_tokens: number | null;
      user_id: string;
    };
    EndUserPage: {
      count: number;
      has_more: boolean;
      items: components['schemas']['EndUser'][];
      page: number;
      page_size: number;
    };
    EstimatedRuns: {
      avg_latency_ms: number | null;
      counted_runs: number;
      failed_runs: number;
      failure_count: number;
      failure_percentage: number | null;
      sampled_runs: number;
      success_count: number;
      success_rate: number | null;
      total_cost: number;
      total_runs: number;
      total_tokens: number;
    };
    EventSubject: {
      id: string;
      /** @enum {unknown} */
      kind: 'trace' | 'alert' | 'agent' | 'prompt' | 'endpoint';
    };
    ExplainedSpan: {
      from: {
        [key: string]: string;
      } | null;
      /** Format: uuid */
      span_id: string;
      unread: string[];
    };
    Export: {
      bytes: number;
      directory: string;
      /** Format: date-time */
      exported_at: string;
      files: number;
      missing: components['schemas']['MissingRows'][];
      rows: {
        [key: string]: number;
      };
    };
    ExportProgress: {
      failed: components['schemas']['FailedExport'] | null;
      under_way: components['schemas']['ExportUnderWay'] | null;
    };
    ExportUnderWay: {
      bytes: number;
      directory: string;
      rows: number;
      table: string | null;
      total_rows: number | null;
    };
    FailedExport: {
      directory: string;
      /** Format: date-time */
      failed_at: string;
      message: string;
    };
    FieldError: {
      field: string;
      message: string;
    };
    FiredAlert: {
      /** Format: uuid */
      alert_id: string;
      conditions: components['schemas']['TriedCondition'][];
      /** Format: date-time */
      fired_at: string;
      /** Format: uuid */
      id: string;
      is_test: boolean;
      name: string | null;
      notifications: components['schemas']['AlertNotification'][];
      resolved_at: string | null;
      sample_count: number | null;
      target: components['schemas']['AlertTarget'];
      threshold: number;
      trace_ids: string[];
      /** @enum {unknown} */
      type:
        | 'failure_rate'
        | 'inactivity'
        | 'cost_threshold'
        | 'latency_threshold'
        | 'score_threshold'
        | 'composite';
      value: number | null;
      window: components['schemas']['AlertWindow'] | null;
    };
    FiredAlertPage: {
      count: number;
      has_more: boolean;
      items: components['schemas']['FiredAlert'][];
      page: number;
      page_size: number;
    };
    FoundAgent: {
      /** Format: uuid */
      id: string;
      name: string;
    };
    FoundEverywhere: {
      agents: components['schemas']['FoundAgent'][];
      logs: components['schemas']['LogRecord'][];
      models: string[];
      prompts: string[];
      runs: components['schemas']['ListedRun'][];
      runs_searched_back_to: string | null;
      sessions: components['schemas']['NamedRuns'][];
      users: components['schemas']['NamedRuns'][];
    };
    FoundRunsBucket: {
      failed: number;
      runs: number;
      /** Format: date-time */
      start: string;
    };
    FoundRunsSeries: {
      buckets: components['schemas']['FoundRunsBucket'][];
      /** Format: date-time */
      end_time: string;
      failed: number;
      /** @enum {unknown} */
      interval: '1m' | '5m' | '1h' | '1d';
      runs: number;
      searched_back_to: string | null;
      /** Format: date-time */
      start_time: string;
    };
    FoundSpans: {
      items: components['schemas']['TextMatch'][];
      next_cursor: string | null;
    };
    ListedDelivery: {
      attempt_count: number;
      /** Format: date-time */
      created_at: string;
      /** Format: uuid */
      endpoint_id: string;
      event_type: string;
      /** Format: uuid */
      id: string;
      /** @enum {unknown} */
      status: 'pending' | 'success' | 'failed';
      subject: components['schemas']['EventSubject'] | null;
    };
    ListedDeliveryPage: {
      items: components['schemas']['ListedDelivery'][];
      next_cursor: string | null;
    };
    ListedRun: {
      /** Format: uuid */
      agent_id: string;
      agent_name: string;
      agent_version: string | null;
      duration_ms: number | null;
      ended_at: string | null;
      environment: string | null;
      error_message: string | null;
      error_span_count?: number | null;
      input_preview?: string | null;
      /** @enum {unknown} */
      kind: 'agent' | 'other';
      match?: components['schemas']['TextMatch'];
      models?: string[] | null;
      outcome: string | null;
      release: string | null;
      repository: string | null;
      sample_rate: number | null;
      scores?: components['schemas']['ListedScore'][];
      session_id: string | null;
      span_count: number;
      /** Format: date-time */
      started_at: string;
      /** @enum {unknown} */
      status: 'running' | 'completed' | 'failed' | 'timed_out';
      success: boolean | null;
      tags: string[];
      total_cost_usd: number | null;
      total_tokens: number | null;
      /** Format: uuid */
      trace_id: string;
      user_id: string | null;
    };
    ListedRunPage: {
      count: number | null;
      has_more: boolean;
      items: components['schemas']['ListedRun'][];
      next_cursor: string | null;
      page: number;
      page_size: number;
      searched_back_to?: string | null;
    };
    ListedScore: {
      label: string | null;
      mean: number | null;
      name: string;
      scores: number;
    };
    LogBucket: {
      count: number;
      errors: number;
      /** Format: date-time */
      start: string;
    };
    LogFacets: {
      buckets: components['schemas']['LogBucket'][];
      count: number;
      counted_after: string | null;
      /** Format: date-time */
      end_time: string;
      /** @enum {unknown} */
      interval: '1s' | '10s' | '1m' | '5m' | '15m' | '1h' | '6h' | '1d';
      of_other_services: number;
      services: components['schemas']['LogServiceCount'][];
      severities: components['schemas']['LogSeverityCount'][];
      /** Format: date-time */
      start_time: string;
    };
    LogRecord: {
      attributes: Record<string, never>;
      body: string | null;
      event_name?: string | null;
      flags?: number;
      /** Format: uuid */
      id: string;
      observed_at?: string | null;
      resource?: Record<string, never>;
      scope?: Record<string, never> | null;
      service_name: string;
      /** @enum {unknown} */
      severity: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';
      severity_number?: number;
      severity_text?: string;
      span_id: string | null;
      /** Format: date-time */
      timestamp: string;
      trace_id: string | null;
    };
    LogSearchResult: {
      count: number;
      items: components['schemas']['LogRecord'][];
      limit: number;
      next_cursor: string | null;
      offset: number;
    };
    LogServiceCount: {
      count: number;
      name: string;
    };
    LogSeverityCount: {
      count: number;
      /** @enum {unknown} */
      name: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';
    };
    LogTrace: {
      /** Format: uuid */
      trace_id: string;
      url: string;
    };
    LongInputPrices: {
      audio_input: number;
      audio_output: number;
      cached_read: number;
      cached_write: number;
      cached_write_1h: number;
      cached_write_5m: number;
      input: number;
      output: number;
      over: number;
    };
    MadeBackup: {
      backup: string;
      bytes: number;
      copied_bytes: number;
      directory: string;
      files: number;
      /** Format: date-time */
      made_at: string;
      rows: {
        [key: string]: number;
      };
    };
    Me: {
      browser_session: components['schemas']['CurrentSession'] | null;
      key_id: string | null;
      memberships: components['schemas']['Membership'][];
      scopes: ('write' | 'read' | 'manage' | 'delegate' | 'feedback' | 'admin')[];
      user: components['schemas']['UserAccount'];
    };
    Member: {
      email: string;
      name: string;
      /** @enum {unknown} */
      role: 'admin' | 'member';
      /** Format: uuid */
      user_id: string;
    };
    MemberChange: {
      /** @enum {unknown} */
      role?: 'admin' | 'member' | null;
    };
    Membership: {
      name: string;
      /** @enum {unknown} */
      role: 'admin' | 'member';
      slug: string;
    };
    Metric: {
      data_point_count: number;
      description: string;
      /** Format: date-time */
      last_seen_at: string;
      name: string;
      /** @enum {unknown} */
      type: 'gauge' | 'sum' | 'histogram' | 'exponential_histogram' | 'summary';
      unit: string;
    };
    MetricBuckets: {
      bucket_counts: number[];
      offset: number;
    };
    MetricDataPoint: {
      bucket_counts?: number[];
      count?: number;
      exemplars?: components['schemas']['MetricExemplar'][];
      explicit_bounds?: (number | null)[];
      flags?: number;
      is_monotonic?: boolean | null;
      labels: {
        [key: string]: string;
      };
      max?: number | null;
      min?: number | null;
      negative?: components['schemas']['MetricBuckets'];
      positive?: components['schemas']['MetricBuckets'];
      quantiles?: components['schemas']['MetricQuantile'][];
      scale?: number;
      start_time?: string | null;
      sum?: number | null;
      temporality?: ('delta' | 'cumulative') | null;
      /** Format: date-time */
      timestamp: string;
      value: number | null;
      zero_count?: number;
      zero_threshold?: number | null;
    };
    MetricExemplar: {
      filtered_attributes: Record<string, never>;
      span_id: string | null;
      timestamp: string | null;
      trace_id: string | null;
      value: number | null;
    };
    MetricLabel: {
      is_truncated: boolean;
      key: string;
      values: string[];
    };
    MetricQuantile: {
      quantile: number | null;
      value: number | null;
    };
    MetricQueryResult: {
      data_points: components['schemas']['MetricDataPoint'][];
      name: string;
      /** @enum {unknown} */
      type: 'gauge' | 'sum' | 'histogram' | 'exponential_histogram' | 'summary';
      unit: string;
    };
    MetricSeries: {
      labels: {
        [key: string]: string;
      };
      points: number[][];
    };
    MetricSeriesList: {
      /** Format: date-time */
      end_time: string;
      is_truncated: boolean;
      series: components['schemas']['MetricSeries'][];
      /** Format: date-time */
      start_time: string;
      step: number;
      /** @enum {unknown} */
      type: 'gauge' | 'sum' | 'histogram' | 'exponential_histogram' | 'summary';
      unit: string;
    };
    MissingRows: {
      from: string | null;
      rows: number | null;
      table: string;
      to: string | null;
      users: string[] | null;
    };
    ModelPerformance: {
      agents: {
        calls: number;
        /** Format: uuid */
        id: string;
        name: string;
        total_cost: number | null;
      }[];
      failed_calls: number;
      first_chunk_ms: number | null;
      p50_ms: number | null;
      p95_ms: number | null;
      tokens_per_second: number | null;
      without_price: number;
      without_tokens: number;
    };
    ModelPrice: {
      is_used: boolean;
      model: string;
      pipelines: string[];
      price: components['schemas']['TokenPrices'] | null;
      processor: string;
      providers: components['schemas']['ProviderPrice'][];
      rule: string | null;
    };
    ModelUsage: {
      calls: number;
      /** Format: date-time */
      first_call_at: string;
      input_tokens: number;
      /** Format: date-time */
      last_call_at: string;
      model: string | null;
      output_tokens: number;
      performance?: components['schemas']['ModelPerformance'];
      priced_calls: number;
      total_cost: number | null;
      total_tokens: number;
    };
    ModelUsagePage: {
      count: number;
      has_more: boolean;
      items: components['schemas']['ModelUsage'][];
      page: number;
      page_size: number;
    };
    MonthlyUsage: {
      limit: number | null;
      period: string;
      /** Format: date-time */
      resets_at: string;
      stored_bytes: components['schemas']['StorageUse'];
      used: number;
    };
    MovedPromptLabel: {
      version?: number | null;
      versions?: components['schemas']['PromptLabelTarget'][] | null;
    };
    NamedRuns: {
      runs: number;
      value: string;
    };
    NewAlert: {
      /** Format: uuid */
      agent_id?: string | null;
      all_agents?: boolean | null;
      /**
       * @default email
       * @enum {unknown}
       */
      channel: 'email' | 'webhook' | 'both' | null;
      composite_config?: components['schemas']['AlertCompositionInput'] | null;
      /** @default 60 */
      cooldown_minutes: number | null;
      min_samples?: number | null;
      name?: string | null;
      score_config?: components['schemas']['NewAlertScoreInput'] | null;
      target_service?: string | null;
      threshold?: number | null;
      /** @enum {unknown} */
      type:
        | 'failure_rate'
        | 'inactivity'
        | 'cost_threshold'
        | 'latency_threshold'
        | 'score_threshold'
        | 'composite';
      webhook_url?: string | null;
      /** @enum {unknown} */
      window_minutes?: 5 | 15 | 30 | 60 | 180 | 360 | 720 | 1440 | null;
    } & ((
      | {
          agent_id: string;
          /** @enum {unknown} */
          all_agents?: false | null;
          target_service?: null;
        }
      | {
          agent_id?: null;
          /** @enum {unknown} */
          all_agents?: false | null;
          target_service: string;
        }
      | {
          agent_id?: null;
          /** @constant */
          all_agents: true;
          target_service?: null;
        }
    ) &
      (
        | {
            composite_config: Record<string, never>;
            score_config?: null;
            /** @constant */
            type?: 'composite';
          }
        | {
            composite_config?: null;
            min_samples?: null;
            score_config: Record<string, never>;
            target_service?: null;
            threshold: number;
            /** @constant */
            type?: 'score_threshold';
          }
        | {
            composite_config?: null;
            score_config?: null;
            threshold: number;
            /** @constant */
            type?: 'failure_rate';
          }
        | {
            composite_config?: null;
            min_samples?: null;
            score_config?: null;
            threshold: number;
            /** @constant */
            type?: 'inactivity';
            window_minutes?: null;
          }
        | {
            composite_config?: null;
            min_samples?: null;
            score_config?: null;
            threshold: number;
            /** @constant */
            type?: 'cost_threshold';
            window_minutes?: null;
          }
        | {
            composite_config?: null;
            score_config?: null;
            threshold: number;
            /** @constant */
            type?: 'latency_threshold';
          }
      ) &
      (
        | {
            /** @enum {unknown} */
            channel?: 'email' | null;
          }
        | {
            webhook_url: string;
          }
      ));
    NewAlertInput: {
      /** Format: uuid */
      agent_id?: string | null;
      all_agents?: boolean | null;
      /**
       * @default email
       * @enum {unknown}
       */
      channel: 'email' | 'webhook' | 'both' | null;
      composite_config?: components['schemas']['AlertCompositionInput'] | null;
      /** @default 60 */
      cooldown_minutes: number | null;
      min_samples?: number | null;
      name?: string | null;
      score_config?: components['schemas']['NewAlertScoreInput'] | null;
      target_service?: string | null;
      threshold?: number | null;
      /** @enum {unknown} */
      type:
        | 'failure_rate'
        | 'inactivity'
        | 'cost_threshold'
        | 'latency_threshold'
        | 'score_threshold'
        | 'composite';
      webhook_url?: string | null;
      /** @enum {unknown} */
      window_minutes?: 5 | 15 | 30 | 60 | 180 | 360 | 720 | 1440 | null;
    } & ((
      | {
          agent_id: string;
          /** @enum {unknown} */
          all_agents?: false | null;
          target_service?: null;
        }
      | {
          agent_id?: null;
          /** @enum {unknown} */
          all_agents?: false | null;
          target_service: string;
        }
      | {
          agent_id?: null;
          /** @constant */
          all_agents: true;
          target_service?: null;
        }
    ) &
      (
        | {
            composite_config: Record<string, never>;
            score_config?: null;
            /** @constant */
            type?: 'composite';
          }
        | {
            composite_config?: null;
            min_samples?: null;
            score_config: Record<string, never>;
            target_service?: null;
            threshold: number;
            /** @constant */
            type?: 'score_threshold';
          }
        | {
            composite_config?: null;
            score_config?: null;
            threshold: number;
            /** @constant */
            type?: 'failure_rate';
          }
        | {
            composite_config?: null;
            min_samples?: null;
            score_config?: null;
            threshold: number;
            /** @constant */
            type?: 'inactivity';
            window_minutes?: null;
          }
        | {
            composite_config?: null;
            min_samples?: null;
            score_config?: null;
            threshold: number;
            /** @constant */
            type?: 'cost_threshold';
            window_minutes?: null;
          }
        | {
            composite_config?: null;
            score_config?: null;
            threshold: number;
            /** @constant */
            type?: 'latency_threshold';
          }
      ) &
      (
        | {
            /** @enum {unknown} */
            channel?: 'email' | null;
          }
        | {
            webhook_url: string;
          }
      ));
    NewAlertScoreInput: {
      /** @enum {unknown} */
      direction: 'below' | 'above';
      /** @default 1 */
      min_samples: number | null;
      score_name: string;
    };
    NewApiKey: {
      confirm_with_key?: string | null;
      expires_at?: string | null;
      name: string;
      scopes: ('write' | 'read' | 'manage' | 'delegate' | 'feedback' | 'admin')[];
      /** Format: uuid */
      user_id?: string | null;
    };
    NewBackup: {
      directory: string;
      keep?: number | null;
    };
    NewExport: {
      directory: string;
      /** @default false */
      skip_damaged: boolean | null;
    };
    NewOrganization: {
      name: string;
      slug: string;
    };
    NewOwnKey: {
      confirm_with_key?: string | null;
      expires_at?: string | null;
      name: string;
      scopes: ('write' | 'read' | 'manage' | 'delegate' | 'feedback' | 'admin')[];
    };
    NewPrompt: {
      description?: string | null;
      messages?: components['schemas']['PromptMessage'][] | null;
      name: string;
      template_text?: string | null;
      /** @default 1 */
      version: number | null;
    };
    NewScoreInput: {
      at?: string | null;
      comment?: string | null;
      /** Format: uuid */
      id?: string | null;
      label?: string | null;
      metadata?: Record<string, never> | null;
      name: string;
      response_id?: string | null;
      session_id?: string | null;
      /** @enum {unknown} */
      source?: 'api' | 'user' | 'evaluator' | null;
      span_id?: string | null;
      trace_id?: string | null;
      value?: number | null;
    };
    NewScores: {
      scores: components['schemas']['NewScoreInput'][];
    };
    NewSpan: {
      cost_usd?: string | number | null;
      duration_ms?: number | null;
      ended_at?: string | null;
      error_message?: string | null;
      input_data?: Record<string, never> | null;
      input_tokens?: number | null;
      metadata?: Record<string, never> | null;
      model?: string | null;
      name: string;
      output_data?: Record<string, never> | null;
      output_tokens?: number | null;
      /** Format: uuid */
      parent_span_id?: string | null;
      /** Format: uuid */
      span_id: string;
      started_at: string;
      /**
       * @default completed
       * @enum {unknown}
       */
      status: 'running' | 'completed' | 'failed' | 'timed_out' | null;
      total_tokens?: number | null;
      /** Format: uuid */
      trace_id: string;
      /** @enum {unknown} */
      type: 'agent' | 'llm' | 'tool' | 'http' | 'db' | 'custom';
    };
    NewTrace: {
      agent: string;
      agent_version?: string | null;
      duration_ms?: number | null;
      ended_at?: string | null;
      environment?: string | null;
      error_message?: string | null;
      metadata?: Record<string, never> | null;
      outcome?: string | null;
      release?: string | null;
      repository?: string | null;
      /** @default 0.2.0 */
      sdk_version: string | null;
      started_at: string;
      /**
       * @default completed
       * @enum {unknown}
       */
      status: 'running' | 'completed' | 'failed' | 'timed_out' | null;
      success?: boolean | null;
      total_cost_usd?: string | number | null;
      total_tokens?: number | null;
      /** Format: uuid */
      trace_id: string;
    };
    NewUser: {
      email: string;
      monthly_event_limit?: number | null;
      name: string;
      stored_bytes_limit?: number | null;
    };
    NewView: {
      name: string;
      org_slug?: string | null;
      path: string;
    };
    NewWebhookEndpoint: {
      event_types: string[];
      /** @default  */
      name: string | null;
      url: string;
    };
    NotificationAttempt: {
      attempt_number: number;
      /** Format: date-time */
      attempted_at: string;
      duration_ms: number;
      error_message: string | null;
      status_code: number | null;
    };
    Organization: {
      /** Format: date-time */
      created_at: string;
      /** Format: uuid */
      id: string;
      name: string;
      slug: string;
    };
    OtherGroups: {
      previous_total: components['schemas']['PeriodTotals'];
      total: components['schemas']['PeriodTotals'];
    };
    OtlpLogs: {
      resourceLogs?: Record<string, never>[] | null;
    };
    OtlpLogsPartialSuccess: {
      errorMessage: string;
      rejectedLogRecords: string;
    };
    OtlpLogsResponse: {
      partialSuccess?: components['schemas']['OtlpLogsPartialSuccess'];
    };
    OtlpMetrics: {
      resourceMetrics?: Record<string, never>[] | null;
    };
    OtlpMetricsPartialSuccess: {
      errorMessage: string;
      rejectedDataPoints: string;
    };
    OtlpMetricsResponse: {
      partialSuccess?: components['schemas']['OtlpMetricsPartialSuccess'];
    };
    OtlpTraces: {
      resourceSpans?: Record<string, never>[] | null;
    };
    OtlpTracesPartialSuccess: {
      errorMessage: string;
      rejectedSpans: string;
    };
    OtlpTracesResponse: {
      partialSuccess?: components['schemas']['OtlpTracesPartialSuccess'];
    };
    OutcomeChange: {
      outcome?: string | null;
      success: boolean;
    };
    OutlinedSpan: {
      cost_usd: number | null;
      /** @constant */
      counted?: false;
      duration_ms: number | null;
      ended_at: string | null;
      error_message: string | null;
      input_bytes: number | null;
      input_tokens: number | null;
      model: string | null;
      name: string;
      node: string | null;
      output_bytes: number | null;
      output_tokens: number | null;
      parent_span_id: string | null;
      preview: string | null;
      /** Format: uuid */
      same_as?: string;
      /** Format: uuid */
      span_id: string;
      /** Format: date-time */
      started_at: string;
      /** @enum {unknown} */
      status: 'running' | 'completed' | 'failed' | 'timed_out';
      total_tokens: number | null;
      /** Format: uuid */
      trace_id: string;
      /** @enum {unknown} */
      type: 'agent' | 'llm' | 'tool' | 'http' | 'db' | 'custom';
    };
    OwnBrowserSession: {
      address: string | null;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      expires_at: string;
      /** Format: uuid */
      id: string;
      is_current: boolean;
      /** Format: uuid */
      key_id: string;
      /** Format: date-time */
      last_seen_at: string;
      user_agent: string | null;
    };
    PeriodTotals: {
      cost: number | null;
      cost_per_run: number | null;
      failed: number;
      failure_count: number;
      p50_ms: number | null;
      p95_ms: number | null;
      priced_runs: number;
      runs: number;
      success_count: number;
      tokens: number | null;
    };
    PreviewedFiring: {
      /** Format: date-time */
      fired_at: string;
      resolved_at: string | null;
      value: number | null;
    };
    PricedTokens: {
      audio_input: number;
      audio_output: number;
      cached_read: number;
      cached_write: number;
      input: number;
      output: number;
    };
    Problem: {
      code: string;
      detail: string;
      errors?: components['schemas']['FieldError'][];
      status: number;
      title: string;
      type: string;
    };
    Prompt: {
      /** Format: date-time */
      created_at: string;
      description: string | null;
      /** Format: uuid */
      id: string;
      is_active: boolean;
      labels: string[];
      name: string;
      template_text: string;
      /** @enum {unknown} */
      type: 'text' | 'chat';
      variables: string[];
      version: number;
    };
    PromptComparison: {
      name: string;
      versions: components['schemas']['PromptVersionFigures'][];
    };
    PromptLabel: {
      key_id: string | null;
      key_name: string | null;
      label: string;
      /** Format: date-time */
      moved_at: string;
      name: string;
      revision: number;
      versions: components['schemas']['PromptLabelTarget'][];
    };
    PromptLabelMove: {
      from: components['schemas']['PromptLabelTarget'][] | null;
      key_id: string | null;
      key_name: string | null;
      label: string;
      /** Format: date-time */
      moved_at: string;
      name: string;
      revision: number;
      to: components['schemas']['PromptLabelTarget'][] | null;
    };
    PromptLabelMoves: {
      count: number;
      has_more: boolean;
      items: components['schemas']['PromptLabelMove'][];
      page: number;
      page_size: number;
    };
    PromptLabelTarget: {
      version: number;
      weight: number;
    };
    PromptMessage: {
      content: string;
      role: string;
    };
    PromptNames: {
      has_more: boolean;
      items: string[];
    };
    PromptUsage: {
      prompt_name: string;
      prompt_version: number;
      /** Format: uuid */
      span_id?: string | null;
      /** Format: uuid */
      trace_id: string;
    };
    PromptVersionFigures: {
      avg_cost_usd: number | null;
      avg_latency_ms: number | null;
      p95_latency_ms: number | null;
      scores: components['schemas']['PromptVersionScore'][];
      success_rate: number | null;
      template_text: string;
      total_traces: number;
      version: number;
    };
    PromptVersionScore: {
      max: number | null;
      mean: number | null;
      min: number | null;
      name: string;
      scores: number;
      values: number;
    };
    ProviderPrice: {
      price: components['schemas']['TokenPrices'];
      provider: string;
      rule: string;
    };
    QueuedWebhookRetries: {
      has_more: boolean;
      queued: number;
    };
    QueuedWebhookRetry: {
      /** Format: uuid */
      delivery_id: string;
      /** @constant */
      queued: true;
    };
    QueuedWebhookTest: {
      /** Format: uuid */
      delivery_id: string;
      /** @constant */
      queued: true;
    };
    QueueFill: {
      bytes: number;
      items: number;
      max_bytes: number;
      max_items: number | null;
    };
    ReadSpan: {
      attributes: components['schemas']['Attribute'][] | null;
      cost: components['schemas']['SpanCost'] | null;
      cost_usd: number | null;
      /** @constant */
      counted?: false;
      dropped_attributes_count: number | null;
      dropped_events_count: number | null;
      dropped_links_count: number | null;
      duration_ms: number | null;
      ended_at: string | null;
      error_message: string | null;
      events: components['schemas']['SpanEvent'][] | null;
      flags: number | null;
      input_data: Record<string, never> | null;
      input_tokens: number | null;
      is_truncated?: boolean;
      kind: (string | number) | null;
      links: components['schemas']['SpanLink'][] | null;
      metadata: Record<string, never> | null;
      model: string | null;
      name: string;
      output_data: Record<string, never> | null;
      output_tokens: number | null;
      parent_span_id: string | null;
      resource: components['schemas']['SentResource'] | null;
      /** Format: uuid */
      same_as?: string;
      scope: components['schemas']['SentScope'] | null;
      scores: components['schemas']['Score'][];
      sent_end: string | null;
      sent_name: string | null;
      sent_start: string | null;
      /** Format: uuid */
      span_id: string;
      /** Format: date-time */
      started_at: string;
      /** @enum {unknown} */
      status: 'running' | 'completed' | 'failed' | 'timed_out';
      status_code: number | null;
      status_message: string | null;
      time_to_first_chunk_ms: number | null;
      total_tokens: number | null;
      /** Format: uuid */
      trace_id: string;
      trace_state: string | null;
      /** @enum {unknown} */
      type: 'agent' | 'llm' | 'tool' | 'http' | 'db' | 'custom';
      usage: components['schemas']['SpanUsage'] | null;
    };
    RecordedPromptUsage: {
      /** @constant */
      status: 'recorded';
    };
    RefusedItems: {
      code: string;
      items: number;
    };
    RejectedScore: {
      error: string;
      /** Format: uuid */
      id: string;
    };
    RejectedTrace: {
      error: string;
      trace_id: string;
    };
    Rejection: {
      /** Format: date-time */
      at: string;
      code: string;
      error: string;
      receiver: string;
      /** @enum {unknown} */
      signal: 'traces' | 'metrics' | 'logs' | 'events';
      trace_id: string | null;
    };
    Rejections: {
      items: components['schemas']['Rejection'][];
      /** Format: date-time */
      since: string;
    };
    Reload: {
      added: string[];
      changed: string[];
      config_hash: string;
      duration_ms: number;
      kept: number;
      keys: string[];
      not_renewed: components['schemas']['RenewalFailure'][];
      removed: string[];
      renewed: string[];
      /** @enum {unknown} */
      result: 'unchanged' | 'applied';
    };
    RenewalFailure: {
      name: string;
      reason: string;
    };
    RepositoryStats: {
      failed_runs: number;
      /** Format: date-time */
      last_at: string;
      repository: string;
      total_cost: number | null;
      total_runs: number;
      total_sessions: number;
      total_tokens: number | null;
      total_users: number;
    };
    RepositoryStatsPage: {
      count: number;
      has_more: boolean;
      items: components['schemas']['RepositoryStats'][];
      page: number;
      page_size: number;
    };
    RotatedAlertSecret: {
      /** Format: date-time */
      created_at: string;
      secret: string;
    };
    RotatedWebhookSecret: {
      /** Format: uuid */
      id: string;
      secret: string;
    };
    RpcStatus: {
      code: number;
      details?: Record<string, never>[];
      message: string;
    };
    Run: {
      agent_name: string;
      agent_version: string | null;
      duration_ms: number | null;
      ended_at: string | null;
      environment: string | null;
      error_message: string | null;
      /** @enum {unknown} */
      kind: 'agent' | 'other';
      outcome: string | null;
      release: string | null;
      repository: string | null;
      sample_rate: number | null;
      session_id: string | null;
      span_count: number;
      /** Format: date-time */
      started_at: string;
      /** @enum {unknown} */
      status: 'running' | 'completed' | 'failed' | 'timed_out';
      success: boolean | null;
      tags: string[];
      total_cost_usd: number | null;
      total_tokens: number | null;
      /** Format: uuid */
      trace_id: string;
      user_id: string | null;
    };
    RunBucket: {
      cost: number | null;
      failed: number;
      p50_ms: number | null;
      p95_ms: number | null;
      priced_runs: number;
      runs: number;
      /** Format: date-time */
      start: string;
      success_count: number;
      tokens: number | null;
    };
    RunGroup: {
      key: string | null;
      name: string | null;
      previous_total: components['schemas']['PeriodTotals'];
      regressions: ('failures' | 'success' | 'cost' | 'duration')[];
      total: components['schemas']['PeriodTotals'];
    };
    RunGroups: {
      count: number;
      /** Format: date-time */
      end_time: string;
      /** @enum {unknown} */
      group_by:
        | 'agent'
        | 'model'
        | 'user'
        | 'tag'
        | 'environment'
        | 'release'
        | 'agent_version'
        | 'repository'
        | 'prompt_version';
      groups: components['schemas']['RunGroup'][];
      others: components['schemas']['OtherGroups'] | null;
      previous_total: components['schemas']['PeriodTotals'];
      /** Format: date-time */
      start_time: string;
      total: components['schemas']['PeriodTotals'];
    };
    RunPage: {
      count: number;
      has_more: boolean;
      items: components['schemas']['Run'][];
      page: number;
      page_size: number;
    };
    RunSeries: {
      buckets: components['schemas']['RunBucket'][];
      key: string | null;
      name: string | null;
      total: components['schemas']['RunTotals'] | null;
    };
    RunSeriesList: {
      /** Format: date-time */
      end_time: string;
      groups: components['schemas']['RunSeries'][];
      /** @enum {unknown} */
      interval: '1m' | '5m' | '1h' | '1d';
      previous_total: components['schemas']['RunTotals'];
      /** Format: date-time */
      start_time: string;
      total: components['schemas']['RunTotals'];
    };
    RunTotals: {
      cost: number | null;
      failed: number;
      p50_ms: number | null;
      p95_ms: number | null;
      priced_runs: number;
      runs: number;
      success_count: number;
      tokens: number | null;
    };
    RunValue: {
      runs: number;
      value: string;
    };
    RunValues: {
      items: components['schemas']['RunValue'][];
    };
    SavedView: {
      /** Format: uuid */
      id: string;
      may_change: boolean;
      name: string;
      org_slug: string | null;
      path: string;
    };
    Score: {
      /** Format: date-time */
      at: string;
      comment: string | null;
      error_type: string | null;
      /** Format: uuid */
      id: string;
      label: string | null;
      metadata: Record<string, never> | null;
      name: string;
      response_id: string | null;
      session_id: string | null;
      /** @enum {unknown} */
      source: 'otlp' | 'api' | 'user' | 'evaluator';
      span_id: string | null;
      value: number | null;
    };
    ScoreBucket: {
      max: number | null;
      mean: number | null;
      min: number | null;
      scores: number;
      /** Format: date-time */
      start: string;
      values: number;
    };
    ScoreGroup: {
      agent_name: string | null;
      buckets: components['schemas']['ScoreBucket'][];
      key: string | null;
      labels: {
        label: string;
        scores: number;
      }[];
      max: number | null;
      mean: number | null;
      min: number | null;
      name: string;
      scores: number;
      values: number;
    };
    ScoresReply: {
      accepted: number;
      errors: components['schemas']['RejectedScore'][];
      ids: string[];
      rejected: number;
    };
    ScoreStats: {
      interval: ('1m' | '5m' | '1h' | '1d') | null;
      items: components['schemas']['ScoreGroup'][];
    };
    SentResource: {
      attributes: components['schemas']['Attribute'][];
    };
    SentScope: {
      attributes: components['schemas']['Attribute'][];
      name: string | null;
      version: string | null;
    };
    ServedPrompt: {
      /** Format: date-time */
      created_at: string;
      description: string | null;
      /** Format: uuid */
      id: string;
      label: string | null;
      messages: components['schemas']['PromptMessage'][] | null;
      name: string;
      template_text: string | null;
      /** @enum {unknown} */
      type: 'text' | 'chat';
      variables: string[];
      version: number;
    };
    ServiceMap: {
      edges: components['schemas']['ServiceMapEdge'][];
      nodes: components['schemas']['ServiceMapNode'][];
    };
    ServiceMapEdge: {
      error_count: number | null;
      p95_ms: number | null;
      source: string;
      target: string;
      weight: number;
    };
    ServiceMapHour: {
      errors: number | null;
      /** Format: date-time */
      hour: string;
      spans: number;
    };
    ServiceMapNode: {
      error_count: number | null;
      id: string;
      name: string;
      /** @enum {unknown} */
      node_type: 'agent' | 'service' | 'database' | 'external';
      p95_ms: number | null;
      span_count: number;
      /** @enum {unknown} */
      span_type: 'agent' | 'llm' | 'tool' | 'http' | 'db' | 'custom';
    };
    ServiceMapRebuild: {
      corrected: boolean;
      differing_spans: number;
      differing_sums: number;
      dry_run: boolean;
      duration_ms: number;
      examples: string[];
      spans: number;
      traces: number;
      unmapped_traces: number;
    };
    Session: {
      agents: {
        /** Format: uuid */
        id: string;
        name: string;
      }[];
      failed_runs: number;
      /** Format: date-time */
      first_at: string;
      /** Format: date-time */
      last_at: string;
      session_id: string;
      total_cost: number | null;
      total_runs: number;
      total_tokens: number | null;
      user_ids: string[];
    };
    SessionDetail: {
      agents: {
        /** Format: uuid */
        id: string;
        name: string;
      }[];
      count: number;
      failed_runs: number;
      /** Format: date-time */
      first_at: string;
      has_more: boolean;
      items: components['schemas']['Run'][];
      /** Format: date-time */
      last_at: string;
      page: number;
      page_size: number;
      scores: components['schemas']['Score'][];
      session_id: string;
      total_cost: number | null;
      total_runs: number;
      total_tokens: number | null;
      user_ids: string[];
    };
    SessionLink: {
      /** Format: date-time */
      expires_at: string;
      url: string;
    };
    SessionLinkOwner: {
      email: string;
      /** Format: date-time */
      expires_at: string;
      name: string;
    };
    SessionLinkToken: {
      token: string;
    };
    SessionPage: {
      count: number;
      has_more: boolean;
      items: components['schemas']['Session'][];
      page: number;
      page_size: number;
    };
    SessionProof: {
      key?: string | null;
      token?: string | null;
    };
    Span: {
      cost_usd: number | null;
      /** @constant */
      counted?: false;
      duration_ms: number | null;
      ended_at: string | null;
      error_message: string | null;
      input_data: Record<string, never> | null;
      input_tokens: number | null;
      model: string | null;
      name: string;
      output_data: Record<string, never> | null;
      output_tokens: number | null;
      parent_span_id: string | null;
      /** Format: uuid */
      same_as?: string;
      /** Format: uuid */
      span_id: string;
      /** Format: date-time */
      started_at: string;
      /** @enum {unknown} */
      status: 'running' | 'completed' | 'failed' | 'timed_out';
      total_tokens: number | null;
      /** Format: uuid */
      trace_id: string;
      /** @enum {unknown} */
      type: 'agent' | 'llm' | 'tool' | 'http' | 'db' | 'custom';
    };
    SpanCost: {
      audio_input: number | null;
      audio_output: number | null;
      cached_read: number | null;
      cached_write: number | null;
      cached_write_1h: number | null;
      cached_write_5m: number | null;
      input: number | null;
      output: number | null;
      rule: string | null;
      /** @enum {unknown} */
      source: 'reported' | 'priced';
      tier: ('flex' | 'batch' | 'priority' | 'unpriced') | null;
      total: number;
    };
    SpanDetail: {
      attributes: components['schemas']['Attribute'][] | null;
      cost: components['schemas']['SpanCost'] | null;
      cost_usd: number | null;
      /** @constant */
      counted?: false;
      dropped_attributes_count: number | null;
      dropped_events_count: number | null;
      dropped_links_count: number | null;
      duration_ms: number | null;
      ended_at: string | null;
      error_message: string | null;
      events: components['schemas']['SpanEvent'][] | null;
      flags: number | null;
      input_data: Record<string, never> | null;
      input_tokens: number | null;
      kind: (string | number) | null;
      links: components['schemas']['SpanLink'][] | null;
      metadata: Record<string, never> | null;
      model: string | null;
      name: string;
      output_data: Record<string, never> | null;
      output_tokens: number | null;
      parent_span_id: string | null;
      resource: components['schemas']['SentResource'] | null;
      /** Format: uuid */
      same_as?: string;
      scope: components['schemas']['SentScope'] | null;
      sent_end: string | null;
      sent_name: string | null;
      sent_start: string | null;
      /** Format: uuid */
      span_id: string;
      /** Format: date-time */
      started_at: string;
      /** @enum {unknown} */
      status: 'running' | 'completed' | 'failed' | 'timed_out';
      status_code: number | null;
      status_message: string | null;
      time_to_first_chunk_ms: number | null;
      total_tokens: number | null;
      /** Format: uuid */
      trace_id: string;
      trace_state: string | null;
      /** @enum {unknown} */
      type: 'agent' | 'llm' | 'tool' | 'http' | 'db' | 'custom';
      usage: components['schemas']['SpanUsage'] | null;
    };
    SpanEvent: {
      attributes: components['schemas']['Attribute'][];
      dropped_attributes_count: number;
      name: string;
      timestamp: string | null;
    };
    SpanLink: {
      attributes: components['schemas']['Attribute'][];
      dropped_attributes_count: number;
      flags: number;
      span_id: string;
      trace_id: string;
      trace_state: string | null;
    };
    SpanUsage: {
      audio_input: number | null;
      audio_output: number | null;
      cached_read: number | null;
      cached_write: number | null;
      cached_write_1h: number | null;
      cached_write_5m: number | null;
      input: number | null;
      output: number | null;
      reasoning: number | null;
      total: number | null;
    };
    StorageUse: {
      limit: number | null;
      used: number | null;
    };
    TextMatch: {
      /** @enum {unknown} */
      field:
        | 'agent_name'
        | 'outcome'
        | 'error_message'
        | 'tags'
        | 'metadata'
        | 'session_id'
        | 'user_id'
        | 'environment'
        | 'release'
        | 'agent_version'
        | 'repository'
        | 'name'
        | 'model'
        | 'input_data'
        | 'output_data';
      marks: number[][];
      snippet: string;
      span_id: string | null;
      span_name: string | null;
      span_type: ('agent' | 'llm' | 'tool' | 'http' | 'db' | 'custom') | null;
    };
    TierFactors: {
      batch: number | null;
      flex: number | null;
      priority: number | null;
    };
    TokenPrices: {
      audio_input: number;
      audio_output: number;
      cached_read: number;
      cached_write: number;
      cached_write_1h: number;
      cached_write_5m: number;
      input: number;
      long: components['schemas']['LongInputPrices'] | null;
      output: number;
      tiers: components['schemas']['TierFactors'];
    };
    ToolDecisions: {
      accepted: number;
      automatic: number;
      counted_after: string | null;
      rejected: number;
      tools: components['schemas']['ToolDecisionsOfTool'][];
      users: components['schemas']['ToolDecisionsOfUser'][];
    };
    ToolDecisionsOfTool: {
      accepted: number;
      automatic: number;
      rejected: number;
      tool_name: string | null;
    };
    ToolDecisionsOfUser: {
      accepted: number;
      automatic: number;
      rejected: number;
      user_id: string | null;
    };
    ToolUsage: {
      agents: {
        calls: number;
        failed_calls: number;
        /** Format: uuid */
        id: string;
        name: string;
      }[];
      calls: number;
      failed_calls: number;
      /** Format: date-time */
      last_call_at: string;
      p50_ms: number | null;
      p95_ms: number | null;
      tool: string;
    };
    ToolUsagePage: {
      count: number;
      has_more: boolean;
      items: components['schemas']['ToolUsage'][];
      page: number;
      page_size: number;
    };
    TraceBatch: {
      traces: (components['schemas']['TraceItem'] | unknown)[];
    };
    TraceBatchReply: {
      accepted: number;
      errors: components['schemas']['RejectedTrace'][];
      rejected: number;
    };
    TraceDetail: {
      agent_name: string;
      agent_version: string | null;
      duration_ms: number | null;
      ended_at: string | null;
      environment: string | null;
      error_message: string | null;
      /** @enum {unknown} */
      kind: 'agent' | 'other';
      metadata: Record<string, never> | null;
      outcome: string | null;
      release: string | null;
      repository: string | null;
      sample_rate: number | null;
      scores: components['schemas']['Score'][];
      session_id: string | null;
      spans: (components['schemas']['Span'] | components['schemas']['SpanDetail'])[];
      /** Format: date-time */
      started_at: string;
      /** @enum {unknown} */
      status: 'running' | 'completed' | 'failed' | 'timed_out';
      success: boolean | null;
      tags: string[];
      total_cost_usd: number | null;
      total_tokens: number | null;
      /** Format: uuid */
      trace_id: string;
      user_id: string | null;
    };
    TraceItem: {
      spans: components['schemas']['NewSpan'][];
      trace: components['schemas']['NewTrace'];
    };
    TraceOutcome: {
      outcome: string | null;
      success: boolean;
      /** Format: uuid */
      trace_id: string;
    };
    TraceOutline: {
      /** Format: uuid */
      agent_id: string;
      agent_name: string;
      agent_version: string | null;
      duration_ms: number | null;
      ended_at: string | null;
      environment: string | null;
      error_message: string | null;
      /** @enum {unknown} */
      kind: 'agent' | 'other';
      metadata: Record<string, never> | null;
      outcome: string | null;
      release: string | null;
      repository: string | null;
      sample_rate: number | null;
      scores: components['schemas']['Score'][];
      seq: number;
      session_id: string | null;
      spans: components['schemas']['OutlinedSpan'][];
      /** Format: date-time */
      started_at: string;
      /** @enum {unknown} */
      status: 'running' | 'completed' | 'failed' | 'timed_out';
      success: boolean | null;
      tags: string[];
      total_cost_usd: number | null;
      total_tokens: number | null;
      /** Format: uuid */
      trace_id: string;
      user_id: string | null;
    };
    TriedCondition: {
      /** @enum {unknown} */
      direction?: 'below' | 'above';
      met: boolean;
      metric_name?: string;
      observed: number | null;
      /** @enum {unknown} */
      operator?: 'gt' | 'lt' | 'gte' | 'lte';
      score_name?: string;
      /** @enum {unknown} */
      source: 'ai' | 'infra';
      threshold?: number;
      /** @enum {unknown} */
      type:
        | 'failure_rate'
        | 'inactivity'
        | 'cost_threshold'
        | 'latency_threshold'
        | 'score_threshold'
        | 'metric_threshold';
      value?: number;
    };
    UnpriceableCalls: {
      no_parts: number;
      no_tokens: number;
      running: number;
      too_large: number;
    };
    UserAccount: {
      /** Format: date-time */
      created_at: string;
      disabled: boolean;
      email: string;
      /** Format: uuid */
      id: string;
      monthly_event_limit: number | null;
      name: string;
      stored_bytes_limit: number | null;
    };
    UserChange: {
      disabled?: boolean | null;
      email?: string | null;
      monthly_event_limit?: number | null;
      name?: string | null;
      stored_bytes_limit?: number | null;
    };
    WebhookAttempt: {
      attempt_number: number;
      /** Format: date-time */
      attempted_at: string;
      duration_ms: number | null;
      error_message: string | null;
      http_status_code: number | null;
      response_body: string;
    };
    WebhookDelivery: {
      attempt_count: number;
      /** Format: date-time */
      created_at: string;
      event_type: string;
      /** Format: uuid */
      id: string;
      /** @enum {unknown} */
      status: 'pending' | 'success' | 'failed';
    };
    WebhookDeliveryDetail: {
      attempts: components['schemas']['WebhookAttempt'][];
      /** Format: date-time */
      created_at: string;
      event_type: string;
      /** Format: uuid */
      id: string;
      request_body: Record<string, never>;
      /** @enum {unknown} */
      status: 'pending' | 'success' | 'failed';
    };
    WebhookDeliveryPage: {
      count: number;
      has_more: boolean;
      items: components['schemas']['WebhookDelivery'][];
      page: number;
      page_size: number;
    };
    WebhookEndpoint: {
      consecutive_failures: number;
      /** Format: date-time */
      created_at: string;
      event_types: string[];
      /** Format: uuid */
      id: string;
      is_active: boolean;
      name: string;
      url: string;
    };
    WebhookEndpointChange: {
      event_types?: string[] | null;
      is_active?: boolean | null;
      name?: string | null;
      url?: string | null;
    };
    WebhookRetry: {
      /** Format: uuid */
      endpoint_id: string;
      since: string;
      /**
       * @default failed
       * @enum {unknown}
       */
      status: 'failed' | 'pending' | null;
    };
    WhatIf: {
      as: string;
      model: string | null;
      price: components['schemas']['TokenPrices'] | null;
      processor: string | null;
      providers: components['schemas']['ProviderPrice'][];
      reason: ('no_prices' | 'unknown_model' | 'certain_providers') | null;
      repriced: components['schemas']['WhatIfCalls'] | null;
      rule: string | null;
    };
    WhatIfCalls: {
      both_calls: number;
      both_cost: number | null;
      both_repriced_cost: number | null;
      calls: number;
      left_out: components['schemas']['UnpriceableCalls'];
      long_calls: number;
      priced_calls: number;
      repriced_calls: number;
      repriced_cost: number | null;
      tokens: components['schemas']['PricedTokens'];
      total_cost: number | null;
    };
  };
  responses: {
    BadRequest: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    BodyTooLarge: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    Conflict: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    Forbidden: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    HeadersTooLarge: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    InternalError: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    NotFound: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    PreconditionFailed: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    RequestTimeout: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    TooManyRequests: {
      headers: {
        'Retry-After'?: string;
        'X-Quota-Limit'?: string;
        'X-Quota-Remaining'?: string;
        'X-Quota-Reset'?: string;
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    Unauthenticated: {
      headers: {
        'WWW-Authenticate'?: string;
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    Unavailable: {
      headers: {
        'Retry-After'?: string;
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    UnsupportedMediaType: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
    ValidationFailed: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        'application/problem+json': components['schemas']['Problem'];
      };
    };
  };
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  listAudit: {
    parameters: {
      query?: {
        action?:
          | 'alert.changed'
          | 'alert.created'
          | 'alert.deleted'
          | 'alert.tested'
          | 'alert_secret.rotated'
          | 'config.read'
          | 'config.reloaded'
          | 'deliveries.retried'
          | 'delivery.retried'
          | 'endpoint.changed'
          | 'endpoint.created'
          | 'endpoint.deleted'
          | 'key.created'
          | 'key.revoked'
          | 'member.put'
          | 'member.removed'
          | 'organization.created'
          | 'prompt.created'
          | 'prompt.deleted'
          | 'prompt_label.moved'
          | 'prompt_label.removed'
          | 'service_map.rebuilt'
          | 'session.closed'
          | 'session.opened'
          | 'session.revoked'
          | 'session_link.created'
          | 'session_link.refused'
          | 'stores.backed_up'
          | 'stores.exported'
          | 'user.changed'
          | 'user.created'
          | 'user.disabled'
          | 'user.enabled'
          | 'view.removed'
          | 'view.saved'
          | 'webhook_secret.rotated';
        page?: number;
        page_size?: number;
        since?: string;
        until?: string;
        user_id?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AuditPage'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  backUpData: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['NewBackup'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MadeBackup'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      408: components['responses']['RequestTimeout'];
      409: components['responses']['Conflict'];
      413: components['responses']['BodyTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readExport: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ExportProgress'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  exportData: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['NewExport'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Export'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      408: components['responses']['RequestTimeout'];
      409: components['responses']['Conflict'];
      413: components['responses']['BodyTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listKeys: {
    parameters: {
      query?: {
        user_id?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ApiKey'][];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  createKey: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['NewApiKey'];
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CreatedApiKey'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      408: components['responses']['RequestTimeout'];
      413: components['responses']['BodyTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  revokeKey: {
    parameters: {
      query?: {
        with_children?: boolean;
      };
      header?: never;
      path: {
        key_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      409: components['responses']['Conflict'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listOrganizations: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Organization'][];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  createOrganization: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['NewOrganization'];
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Organization'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      408: components['responses']['RequestTimeout'];
      409: components['responses']['Conflict'];
      413: components['responses']['BodyTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listMembers: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        slug: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Member'][];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  putMember: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        slug: string;
        user_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['MemberChange'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ChangedMember'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      408: components['responses']['RequestTimeout'];
      413: components['responses']['BodyTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  removeMember: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        slug: string;
        user_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  reloadDaemon: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Reload'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      409: components['responses']['Conflict'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  rebuildServiceMap: {
    parameters: {
      query?: {
        dry_run?: boolean;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ServiceMapRebuild'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      409: components['responses']['Conflict'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listUsers: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['UserAccount'][];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  createUser: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['NewUser'];
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['UserAccount'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      408: components['responses']['RequestTimeout'];
      409: components['responses']['Conflict'];
      413: components['responses']['BodyTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  updateUser: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        user_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['UserChange'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['UserAccount'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      408: components['responses']['RequestTimeout'];
      409: components['responses']['Conflict'];
      413: components['responses']['BodyTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listAgents: {
    parameters: {
      query?: {
        agent_version?: string;
        end_time?: string;
        environment?: string;
        page?: number;
        page_size?: number;
        query?: string;
        release?: string;
        repository?: string;
        sort?:
          | '-last_run_at'
          | 'last_run_at'
          | 'name'
          | '-name'
          | '-total_runs'
          | 'total_runs'
          | '-total_cost'
          | 'total_cost'
          | '-avg_cost_per_run'
          | 'avg_cost_per_run'
          | '-created_at'
          | 'created_at';
        start_time?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AgentSummary'][] | components['schemas']['AgentPage'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readAgent: {
    parameters: {
      query?: {
        estimate?: boolean;
      };
      header?: never;
      path: {
        agent_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AgentDetail'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listAgentRuns: {
    parameters: {
      query?: {
        agent_version?: string;
        end_time?: string;
        environment?: string;
        kind?: 'agent' | 'other' | 'all';
        page?: number;
        page_size?: number;
        release?: string;
        repository?: string;
        session_id?: string;
        start_time?: string;
        status?: 'running' | 'completed' | 'failed' | 'timed_out';
        success?: boolean;
        tag?: string;
        user_id?: string;
      };
      header?: never;
      path: {
        agent_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RunPage'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readAgentStats: {
    parameters: {
      query?: {
        days?: (7 | 30 | 90) | string;
        estimate?: boolean;
      };
      header?: never;
      path: {
        agent_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AgentStats'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listAlerts: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AlertRule'][];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  createAlert: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['NewAlert'];
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AlertRule'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      408: components['responses']['RequestTimeout'];
      409: components['responses']['Conflict'];
      413: components['responses']['BodyTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readAlert: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        alert_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AlertRule'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  deleteAlert: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        alert_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  updateAlert: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        alert_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['AlertChange'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AlertRule'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      408: components['responses']['RequestTimeout'];
      413: components['responses']['BodyTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listAlertEvents: {
    parameters: {
      query?: {
        page?: number;
        page_size?: number;
      };
      header?: never;
      path: {
        alert_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AlertEventPage'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  sendAlertTest: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        alert_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AlertEvent'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  testAlert: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        alert_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AlertTest'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  previewAlert: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['AlertPreviewRequest'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AlertPreview'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      408: components['responses']['RequestTimeout'];
      413: components['responses']['BodyTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readDaemon: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Daemon'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readDaemonConfig: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/yaml': string;
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listFiredAlerts: {
    parameters: {
      query?: {
        agent_id?: string;
        alert_id?: string;
        end_time?: string;
        page?: number;
        page_size?: number;
        start_time?: string;
        trace_id?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['FiredAlertPage'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readRunGroups: {
    parameters: {
      query: {
        agent_id?: string;
        agent_version?: string;
        'agent_version!'?: string;
        'agent_version~'?: string;
        end_time?: string;
        environment?: string;
        'environment!'?: string;
        'environment~'?: string;
        group_by:
          | 'agent'
          | 'model'
          | 'user'
          | 'tag'
          | 'environment'
          | 'release'
          | 'agent_version'
          | 'repository'
          | 'prompt_version';
        limit?: number;
        max_cost?: number;
        max_duration_ms?: number;
        'metadata.KEY'?: string;
        min_cost?: number;
        min_duration_ms?: number;
        release?: string;
        'release!'?: string;
        'release~'?: string;
        repository?: string;
        'repository!'?: string;
        'repository~'?: string;
        score?: string[];
        session_id?: string;
        sort?: 'cost' | 'regression';
        start_time?: string;
        status?: 'running' | 'completed' | 'failed' | 'timed_out';
        success?: boolean;
        tag?: string;
        user_id?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RunGroups'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readLogTrace: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        log_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['LogTrace'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readLogFacets: {
    parameters: {
      query?: {
        'attribute.KEY'?: string;
        end_time?: string;
        event_name?: string;
        interval?: 'auto' | '1s' | '10s' | '1m' | '5m' | '15m' | '1h' | '6h' | '1d';
        q?: string;
        query?: string;
        service?: string;
        service_name?: string;
        severity?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';
        span_id?: string;
        start_time?: string;
        trace_id?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['LogFacets'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  searchLogs: {
    parameters: {
      query?: {
        'attribute.KEY'?: string;
        cursor?: string;
        details?: boolean;
        end?: string;
        end_time?: string;
        event_name?: string;
        limit?: number;
        offset?: number;
        q?: string;
        query?: string;
        service?: string;
        service_name?: string;
        severity?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';
        span_id?: string;
        start?: string;
        start_time?: string;
        trace_id?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['LogSearchResult'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listMetrics: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Metric'][];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listMetricLabels: {
    parameters: {
      query: {
        name: string;
        start_time?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MetricLabel'][];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  queryMetric: {
    parameters: {
      query: {
        details?: boolean;
        end?: string;
        end_time?: string;
        labels?: string;
        limit?: number;
        name: string;
        start?: string;
        start_time?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MetricQueryResult'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readMetricSeries: {
    parameters: {
      query: {
        agg?: 'avg' | 'sum' | 'min' | 'max' | 'last' | 'rate' | 'p50' | 'p95' | 'p99';
        end_time?: string;
        group_by?: string;
        labels?: string;
        name: string;
        start_time?: string;
        step?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MetricSeriesList'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listModels: {
    parameters: {
      query?: {
        agent_id?: string;
        agent_version?: string;
        end_time?: string;
        environment?: string;
        page?: number;
        page_size?: number;
        performance?: boolean;
        release?: string;
        repository?: string;
        start_time?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ModelUsagePage'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readWhatIf: {
    parameters: {
      query: {
        agent_id?: string;
        agent_version?: string;
        as: string;
        end_time?: string;
        environment?: string;
        model?: string;
        processor?: string;
        release?: string;
        repository?: string;
        start_time?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WhatIf'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listPrices: {
    parameters: {
      query?: {
        agent_id?: string;
        end_time?: string;
        start_time?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ModelPrice'][];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listPrompts: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Prompt'][];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  createPrompt: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['NewPrompt'];
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Prompt'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      408: components['responses']['RequestTimeout'];
      409: components['responses']['Conflict'];
      413: components['responses']['BodyTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  deletePrompt: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        name: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  comparePromptVersions: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        name: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PromptComparison'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listPromptLabelMoves: {
    parameters: {
      query?: {
        label?: string;
        page?: number;
        page_size?: number;
      };
      header?: never;
      path: {
        name: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PromptLabelMoves'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listPromptLabels: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        name: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PromptLabel'][];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readPromptLabel: {
    parameters: {
      query?: never;
      header?: {
        'If-None-Match'?: string;
      };
      path: {
        label: string;
        name: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          ETag?: string;
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PromptLabel'];
        };
      };
      304: {
        headers: {
          ETag?: string;
          [name: string]: unknown;
        };
        content?: never;
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  movePromptLabel: {
    parameters: {
      query?: never;
      header?: {
        'If-Match'?: string;
        'If-None-Match'?: string;
      };
      path: {
        label: string;
        name: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['MovedPromptLabel'];
      };
    };
    responses: {
      200: {
        headers: {
          ETag?: string;
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PromptLabel'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      408: components['responses']['RequestTimeout'];
      409: components['responses']['Conflict'];
      412: components['responses']['PreconditionFailed'];
      413: components['responses']['BodyTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  removePromptLabel: {
    parameters: {
      query?: never;
      header?: {
        'If-Match'?: string;
      };
      path: {
        label: string;
        name: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      412: components['responses']['PreconditionFailed'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listPromptVersions: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        name: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Prompt'][];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  deletePromptVersion: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        name: string;
        version: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      409: components['responses']['Conflict'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  findPromptNames: {
    parameters: {
      query?: {
        page_size?: number;
        query?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PromptNames'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  recordPromptUsage: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['PromptUsage'];
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RecordedPromptUsage'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      408: components['responses']['RequestTimeout'];
      413: components['responses']['BodyTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listRejections: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Rejections'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listRepositories: {
    parameters: {
      query?: {
        agent_id?: string;
        agent_version?: string;
        end_time?: string;
        environment?: string;
        kind?: 'agent' | 'other' | 'all';
        page?: number;
        page_size?: number;
        release?: string;
        repository?: string;
        start_time?: string;
        user_id?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RepositoryStatsPage'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readScores: {
    parameters: {
      query?: {
        agent_id?: string;
        agent_version?: string;
        by?: 'agent' | 'model' | 'prompt_version' | 'environment' | 'release' | 'agent_version';
        end_time?: string;
        environment?: string;
        interval?: 'auto' | '1m' | '5m' | '1h' | '1d';
        name?: string;
        prompt_name?: string;
        release?: string;
        repository?: string;
        start_time?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ScoreStats'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  searchAll: {
    parameters: {
      query: {
        limit?: number;
        query: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['FoundEverywhere'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readRunSeries: {
    parameters: {
      query?: {
        agent_id?: string;
        agent_version?: string;
        'agent_version!'?: string;
        'agent_version~'?: string;
        end_time?: string;
        environment?: string;
        'environment!'?: string;
        'environment~'?: string;
        group_by?: 'agent' | 'status' | 'model' | 'prompt_version';
        interval?: 'auto' | '1m' | '5m' | '1h' | '1d';
        max_cost?: number;
        max_duration_ms?: number;
        'metadata.KEY'?: string;
        min_cost?: number;
        min_duration_ms?: number;
        prompt_name?: string;
        release?: string;
        'release!'?: string;
        'release~'?: string;
        repository?: string;
        'repository!'?: string;
        'repository~'?: string;
        score?: string[];
        session_id?: string;
        start_time?: string;
        status?: 'running' | 'completed' | 'failed' | 'timed_out';
        success?: boolean;
        tag?: string;
        user_id?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RunSeriesList'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readServiceMap: {
    parameters: {
      query?: {
        end_time?: string;
        hours?: number;
        start_time?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ServiceMap'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readServiceMapHours: {
    parameters: {
      query?: {
        hours?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ServiceMapHour'][];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listSessions: {
    parameters: {
      query?: {
        agent_id?: string;
        agent_version?: string;
        end_time?: string;
        environment?: string;
        kind?: 'agent' | 'other' | 'all';
        page?: number;
        page_size?: number;
        release?: string;
        repository?: string;
        start_time?: string;
        user_id?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SessionPage'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readSession: {
    parameters: {
      query?: {
        kind?: 'agent' | 'other' | 'all';
        page?: number;
        page_size?: number;
      };
      header?: never;
      path: {
        session_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SessionDetail'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  followChanges: {
    parameters: {
      query: {
        agent_id?: string;
        'attribute.KEY'?: string;
        event_name?: string;
        from?: string;
        kind?: 'agent' | 'other' | 'all';
        pipeline?: string;
        query?: string;
        service_name?: string;
        severity?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';
        span_id?: string;
        to?: string;
        topics: string;
        trace_id?: string;
      };
      header?: {
        'Last-Event-ID'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'text/event-stream': string;
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listTools: {
    parameters: {
      query?: {
        agent_id?: string;
        agent_version?: string;
        end_time?: string;
        environment?: string;
        page?: number;
        page_size?: number;
        release?: string;
        repository?: string;
        start_time?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ToolUsagePage'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listTraces: {
    parameters: {
      query?: {
        agent_id?: string;
        agent_version?: string;
        'agent_version!'?: string;
        'agent_version~'?: string;
        'attribute.KEY'?: string;
        count?: 'exact' | 'none';
        cursor?: string;
        end_time?: string;
        environment?: string;
        'environment!'?: string;
        'environment~'?: string;
        kind?: 'agent' | 'other' | 'all';
        max_cost?: number;
        max_duration_ms?: number;
        'metadata.KEY'?: string;
        min_cost?: number;
        min_duration_ms?: number;
        model?: string;
        node?: string;
        order?: 'desc' | 'asc';
        page?: number;
        page_size?: number;
        previews?: boolean;
        prompt_name?: string;
        prompt_version?: number;
        query?: string;
        release?: string;
        'release!'?: string;
        'release~'?: string;
        repository?: string;
        'repository!'?: string;
        'repository~'?: string;
        score?: string[];
        scores?: boolean;
        session_id?: string;
        sort?: 'started_at' | 'duration_ms' | 'total_tokens' | 'total_cost_usd';
        span_name?: string;
        span_type?: 'agent' | 'llm' | 'tool' | 'http' | 'db' | 'custom';
        start_time?: string;
        status?: 'running' | 'completed' | 'failed' | 'timed_out';
        success?: boolean;
        tag?: string;
        user_id?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ListedRunPage'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readTrace: {
    parameters: {
      query?: {
        include?: 'metadata';
      };
      header?: never;
      path: {
        trace_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['TraceDetail'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  setTraceOutcome: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        trace_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['OutcomeChange'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['TraceOutcome'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      408: components['responses']['RequestTimeout'];
      413: components['responses']['BodyTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  searchTrace: {
    parameters: {
      query: {
        cursor?: string;
        limit?: number;
        query: string;
      };
      header?: never;
      path: {
        trace_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['FoundSpans'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readTraceSpans: {
    parameters: {
      query?: {
        after?: number;
      };
      header?: never;
      path: {
        trace_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['TraceOutline'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readSpan: {
    parameters: {
      query?: {
        max_bytes?: number;
      };
      header?: never;
      path: {
        span_id: string;
        trace_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ReadSpan'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  explainSpan: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        span_id: string;
        trace_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ExplainedSpan'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  compareAgents: {
    parameters: {
      query: {
        agent_a: string;
        agent_b: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AgentComparison'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readSearchSeries: {
    parameters: {
      query?: {
        agent_id?: string;
        agent_version?: string;
        'agent_version!'?: string;
        'agent_version~'?: string;
        'attribute.KEY'?: string;
        end_time?: string;
        environment?: string;
        'environment!'?: string;
        'environment~'?: string;
        interval?: 'auto' | '1m' | '5m' | '1h' | '1d';
        kind?: 'agent' | 'other' | 'all';
        max_cost?: number;
        max_duration_ms?: number;
        'metadata.KEY'?: string;
        min_cost?: number;
        min_duration_ms?: number;
        model?: string;
        node?: string;
        prompt_name?: string;
        prompt_version?: number;
        query?: string;
        release?: string;
        'release!'?: string;
        'release~'?: string;
        repository?: string;
        'repository!'?: string;
        'repository~'?: string;
        score?: string[];
        session_id?: string;
        span_name?: string;
        span_type?: 'agent' | 'llm' | 'tool' | 'http' | 'db' | 'custom';
        start_time?: string;
        status?: 'running' | 'completed' | 'failed' | 'timed_out';
        success?: boolean;
        tag?: string;
        user_id?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['FoundRunsSeries'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listRunValues: {
    parameters: {
      query: {
        agent_id?: string;
        end_time?: string;
        field: string;
        kind?: 'agent' | 'other' | 'all';
        limit?: number;
        query?: string;
        start_time?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RunValues'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listEndUsers: {
    parameters: {
      query?: {
        agent_id?: string;
        agent_version?: string;
        end_time?: string;
        environment?: string;
        kind?: 'agent' | 'other' | 'all';
        page?: number;
        page_size?: number;
        query?: string;
        release?: string;
        repository?: string;
        start_time?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['EndUserPage'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readToolDecisions: {
    parameters: {
      query?: {
        end_time?: string;
        start_time?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ToolDecisions'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listViews: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SavedView'][];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  putView: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        view_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['NewView'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SavedView'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      408: components['responses']['RequestTimeout'];
      409: components['responses']['Conflict'];
      413: components['responses']['BodyTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  deleteView: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        view_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readMe: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Me'];
        };
      };
      401: components['responses']['Unauthenticated'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readAlertSecret: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AlertSecretState'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  rotateAlertSecret: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RotatedAlertSecret'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listMyKeys: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ApiKey'][];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  createMyKey: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['NewOwnKey'];
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CreatedApiKey'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      408: components['responses']['RequestTimeout'];
      409: components['responses']['Conflict'];
      413: components['responses']['BodyTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  revokeMyKey: {
    parameters: {
      query?: {
        with_children?: boolean;
      };
      header?: never;
      path: {
        key_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      409: components['responses']['Conflict'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listMySessions: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OwnBrowserSession'][];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  revokeMySessions: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  revokeMySession: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        session_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readOpenApi: {
    parameters: {
      query?: never;
      header?: {
        'If-None-Match'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          ETag?: string;
          [name: string]: unknown;
        };
        content: {
          'application/json': Record<string, never>;
        };
      };
      304: {
        headers: {
          ETag?: string;
          [name: string]: unknown;
        };
        content?: never;
      };
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listOrganizationDeliveries: {
    parameters: {
      query?: {
        cursor?: string;
        endpoint_id?: string;
        event_type?: string;
        page_size?: number;
        status?: 'pending' | 'success' | 'failed';
        trace_id?: string;
      };
      header?: never;
      path: {
        org_slug: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ListedDeliveryPage'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readWebhookDelivery: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        delivery_id: string;
        org_slug: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WebhookDeliveryDetail'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  retryWebhookDelivery: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        delivery_id: string;
        org_slug: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['QueuedWebhookRetry'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  retryWebhookDeliveries: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        org_slug: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['WebhookRetry'];
      };
    };
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['QueuedWebhookRetries'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      408: components['responses']['RequestTimeout'];
      409: components['responses']['Conflict'];
      413: components['responses']['BodyTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listWebhookEndpoints: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        org_slug: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WebhookEndpoint'][];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  createWebhookEndpoint: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        org_slug: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['NewWebhookEndpoint'];
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CreatedWebhookEndpoint'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      408: components['responses']['RequestTimeout'];
      409: components['responses']['Conflict'];
      413: components['responses']['BodyTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  deleteWebhookEndpoint: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        endpoint_id: string;
        org_slug: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  updateWebhookEndpoint: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        endpoint_id: string;
        org_slug: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['WebhookEndpointChange'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WebhookEndpoint'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      408: components['responses']['RequestTimeout'];
      413: components['responses']['BodyTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  listWebhookDeliveries: {
    parameters: {
      query?: {
        page?: number;
        page_size?: number;
      };
      header?: never;
      path: {
        endpoint_id: string;
        org_slug: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WebhookDeliveryPage'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  rotateWebhookSecret: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        endpoint_id: string;
        org_slug: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RotatedWebhookSecret'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  testWebhookEndpoint: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        endpoint_id: string;
        org_slug: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['QueuedWebhookTest'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      409: components['responses']['Conflict'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  exportLogs: {
    parameters: {
      query?: never;
      header?: {
        'jackdaw-batch-id'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['OtlpLogs'];
        'application/x-protobuf': string;
      };
    };
    responses: {
      200: {
        headers: {
          'X-Quota-Limit'?: string;
          'X-Quota-Remaining'?: string;
          'X-Quota-Reset'?: string;
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OtlpLogsResponse'];
          'application/x-protobuf': string;
        };
      };
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RpcStatus'];
          'application/x-protobuf': string;
        };
      };
      401: {
        headers: {
          'WWW-Authenticate'?: string;
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RpcStatus'];
          'application/x-protobuf': string;
        };
      };
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RpcStatus'];
          'application/x-protobuf': string;
        };
      };
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RpcStatus'];
          'application/x-protobuf': string;
        };
      };
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RpcStatus'];
          'application/x-protobuf': string;
        };
      };
      429: {
        headers: {
          'Retry-After'?: string;
          'X-Quota-Limit'?: string;
          'X-Quota-Remaining'?: string;
          'X-Quota-Reset'?: string;
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RpcStatus'];
          'application/x-protobuf': string;
        };
      };
      500: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RpcStatus'];
          'application/x-protobuf': string;
        };
      };
      503: {
        headers: {
          'Retry-After'?: string;
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RpcStatus'];
          'application/x-protobuf': string;
        };
      };
    };
  };
  exportMetrics: {
    parameters: {
      query?: never;
      header?: {
        'jackdaw-batch-id'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['OtlpMetrics'];
        'application/x-protobuf': string;
      };
    };
    responses: {
      200: {
        headers: {
          'X-Quota-Limit'?: string;
          'X-Quota-Remaining'?: string;
          'X-Quota-Reset'?: string;
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OtlpMetricsResponse'];
          'application/x-protobuf': string;
        };
      };
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RpcStatus'];
          'application/x-protobuf': string;
        };
      };
      401: {
        headers: {
          'WWW-Authenticate'?: string;
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RpcStatus'];
          'application/x-protobuf': string;
        };
      };
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RpcStatus'];
          'application/x-protobuf': string;
        };
      };
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RpcStatus'];
          'application/x-protobuf': string;
        };
      };
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RpcStatus'];
          'application/x-protobuf': string;
        };
      };
      429: {
        headers: {
          'Retry-After'?: string;
          'X-Quota-Limit'?: string;
          'X-Quota-Remaining'?: string;
          'X-Quota-Reset'?: string;
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RpcStatus'];
          'application/x-protobuf': string;
        };
      };
      500: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RpcStatus'];
          'application/x-protobuf': string;
        };
      };
      503: {
        headers: {
          'Retry-After'?: string;
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RpcStatus'];
          'application/x-protobuf': string;
        };
      };
    };
  };
  exportTraces: {
    parameters: {
      query?: never;
      header?: {
        'jackdaw-batch-id'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['OtlpTraces'];
        'application/x-protobuf': string;
      };
    };
    responses: {
      200: {
        headers: {
          'X-Quota-Limit'?: string;
          'X-Quota-Remaining'?: string;
          'X-Quota-Reset'?: string;
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OtlpTracesResponse'];
          'application/x-protobuf': string;
        };
      };
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RpcStatus'];
          'application/x-protobuf': string;
        };
      };
      401: {
        headers: {
          'WWW-Authenticate'?: string;
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RpcStatus'];
          'application/x-protobuf': string;
        };
      };
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RpcStatus'];
          'application/x-protobuf': string;
        };
      };
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RpcStatus'];
          'application/x-protobuf': string;
        };
      };
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RpcStatus'];
          'application/x-protobuf': string;
        };
      };
      429: {
        headers: {
          'Retry-After'?: string;
          'X-Quota-Limit'?: string;
          'X-Quota-Remaining'?: string;
          'X-Quota-Reset'?: string;
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RpcStatus'];
          'application/x-protobuf': string;
        };
      };
      500: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RpcStatus'];
          'application/x-protobuf': string;
        };
      };
      503: {
        headers: {
          'Retry-After'?: string;
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RpcStatus'];
          'application/x-protobuf': string;
        };
      };
    };
  };
  readPrompt: {
    parameters: {
      query?: {
        label?: string;
        session_id?: string;
        version?: number;
      };
      header?: {
        'If-None-Match'?: string;
      };
      path: {
        name: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          ETag?: string;
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ServedPrompt'];
        };
      };
      304: {
        headers: {
          ETag?: string;
          [name: string]: unknown;
        };
        content?: never;
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      404: components['responses']['NotFound'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  sendScores: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['NewScores'];
      };
    };
    responses: {
      200: {
        headers: {
          'X-Quota-Limit'?: string;
          'X-Quota-Remaining'?: string;
          'X-Quota-Reset'?: string;
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ScoresReply'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      408: components['responses']['RequestTimeout'];
      413: components['responses']['BodyTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  openBrowserSession: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['SessionProof'];
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      408: components['responses']['RequestTimeout'];
      413: components['responses']['BodyTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  closeBrowserSession: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  createSessionLink: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SessionLink'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readSessionLink: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['SessionLinkToken'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SessionLinkOwner'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      408: components['responses']['RequestTimeout'];
      413: components['responses']['BodyTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  ingestTraces: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['TraceBatch'];
      };
    };
    responses: {
      200: {
        headers: {
          'X-Quota-Limit'?: string;
          'X-Quota-Remaining'?: string;
          'X-Quota-Reset'?: string;
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['TraceBatchReply'];
        };
      };
      400: components['responses']['BadRequest'];
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      408: components['responses']['RequestTimeout'];
      413: components['responses']['BodyTooLarge'];
      415: components['responses']['UnsupportedMediaType'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readUsage: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MonthlyUsage'];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
  readDailyUsage: {
    parameters: {
      query?: {
        days?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['DailyUsage'][];
        };
      };
      401: components['responses']['Unauthenticated'];
      403: components['responses']['Forbidden'];
      422: components['responses']['ValidationFailed'];
      429: components['responses']['TooManyRequests'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['Unavailable'];
    };
  };
}
